# Tests ladon_slow_bfloat16, which decides whether `native` leaves out AVX512_BF16. The variable ROOT is the folder of the
# sources.
include(${ROOT}/cmake/arch_flags.cmake)

function(expect slow cpuinfo)
  ladon_slow_bfloat16(found "${cpuinfo}")
  if(NOT found STREQUAL slow)
    message(SEND_ERROR "${cpuinfo}: expected ${slow}, found ${found}")
  endif()
endfunction()

expect(TRUE "vendor_id : GenuineIntel;flags : avx2 avx512f avx512_bf16 avx512_vnni avx512_fp16")
expect(FALSE "vendor_id : GenuineIntel;flags : avx512f avx512_bf16 amx_bf16 avx512_fp16 amx_tile amx_int8")
expect(FALSE "vendor_id : GenuineIntel;flags : avx512f avx512_bf16 avx512_vnni") # Cooper Lake
expect(FALSE "vendor_id : GenuineIntel;flags : avx512f avx512_vnni") # Ice Lake
expect(FALSE "vendor_id : AuthenticAMD;flags : avx512f avx512_bf16 avx512_vnni avx512_fp16")
expect(FALSE "")
