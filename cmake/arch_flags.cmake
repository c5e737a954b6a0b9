# ladon_arch_flags(<variable> <arch>): the flags that choose an instruction set, in the words of the compiler. <arch> is
# default (no flag), native, sse2, avx2 (with FMA: x86-64-v3), avx512 (x86-64-v4), under Emscripten
# wasm-scalar, wasm-simd and wasm-relaxed, or any value of -march.
function(ladon_arch_flags out arch)
  set(wasm_scalar "")
  set(wasm_simd -msimd128 -msse4.1) # by Emscripten's SSE headers, which xsimd knows since long before WebAssembly
  set(wasm_relaxed ${wasm_simd} -mrelaxed-simd)
  set(march_sse2 x86-64)
  set(march_avx2 x86-64-v3)
  set(march_avx512 x86-64-v4)
  set(flags "")
  if(MSVC)
    set(arch_avx2 /arch:AVX2)
    set(arch_avx512 /arch:AVX512)
    set(flags ${arch_${arch}})
  elseif(arch STREQUAL "native" AND CMAKE_SYSTEM_PROCESSOR MATCHES "^(arm|aarch64)")
    set(flags -mcpu=native) # older clang knows no -march=native on Arm
  elseif(arch MATCHES "^wasm-(scalar|simd|relaxed)$")
    set(flags ${wasm_${CMAKE_MATCH_1}})
  elseif(DEFINED march_${arch})
    set(flags -march=${march_${arch}})
  elseif(NOT arch STREQUAL "default")
    set(flags -march=${arch})
  endif()
  set(${out} "${flags}" PARENT_SCOPE)
endfunction()
