# cmake -DROOT=<repository> -P check_isas.cmake
# Checks for which instruction sets DISPATCH compiles a kernel with int8 or bfloat16 weights on x86-64. int8 kernels have
# code for AVX512_BF16 only if this code differs from the code for AVX-512 VNNI.
cmake_minimum_required(VERSION 3.25)
set(CMAKE_SYSTEM_PROCESSOR x86_64)
include(${ROOT}/cmake/arch_flags.cmake)
include(${ROOT}/cmake/kernel/arguments.cmake)

# check_isas(<expected list> <precision> <queries> [DETERMINISTIC] [CACHE]): checks the result of ladon_kernel_isas
function(check_isas expected arg_PRECISION arg_QUERIES)
  cmake_parse_arguments(arg "DETERMINISTIC;CACHE" "" "" ${ARGN})
  ladon_kernel_isas(isas)
  if(NOT "${isas}" STREQUAL "${expected}")
    message(FATAL_ERROR "PRECISION ${arg_PRECISION} QUERIES ${arg_QUERIES} ${ARGN}: ${isas}, expected ${expected}")
  endif()
endfunction()

set(float32_isas sse2 avx2 avx512)
set(vnni_isas ${float32_isas} avx512_vnni avx_vnni)
check_isas("${float32_isas}" float32 2)
check_isas("${vnni_isas};avx512_bf16" int8 2)
check_isas("${vnni_isas}" int8 2 DETERMINISTIC)
check_isas("${vnni_isas}" int8 2 CACHE)
check_isas("${vnni_isas}" int8 1)
check_isas("${float32_isas};avx512_bf16" bfloat16 2)
check_isas("${float32_isas};avx512_bf16" bfloat16 1 CACHE)
set(CMAKE_SYSTEM_PROCESSOR arm64)
set(CMAKE_SYSTEM_NAME Darwin)
check_isas("neon;neon_dot;neon_i8mm" int8 2)
set(CMAKE_SYSTEM_NAME Windows)
check_isas("" int8 2)
