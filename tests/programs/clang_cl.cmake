# cmake -DCOMPILER=<clang-cl> -DINCLUDE=<folder> -DFOLDER=<folder> -P clang_cl.cmake
# Compiles clang_cl.cpp by clang-cl, with the flags of ladon::native for each instruction set. The compiler must know
# all flags (-Werror), select the instruction set, and fuse no product with a sum, even if the program has /fp:fast.
cmake_minimum_required(VERSION 3.25)
set(root ${CMAKE_CURRENT_LIST_DIR}/../..)
# The variables that CMake sets in a build with clang-cl.
set(MSVC TRUE)
set(CMAKE_SYSTEM_PROCESSOR AMD64)
set(CMAKE_CXX_COMPILER_ID Clang)
set(CMAKE_CXX_COMPILER_FRONTEND_VARIANT MSVC)
include(${root}/cmake/arch_flags.cmake)
include(${root}/cmake/ladon_headers.cmake)
ladon_float_flags(float_flags)

set(sse2 "")
set(avx2 LADON_FMA)
set(avx_vnni LADON_FMA LADON_VNNI)
set(avx512 LADON_FMA LADON_AVX512)
set(avx512_vnni LADON_FMA LADON_AVX512 LADON_VNNI)
set(avx512_bf16 LADON_FMA LADON_AVX512 LADON_VNNI LADON_BFLOAT16_DOT)
file(MAKE_DIRECTORY ${FOLDER})
foreach(arch sse2 avx2 avx_vnni avx512 avx512_vnni avx512_bf16)
  ladon_arch_flags(arch_flags ${arch})
  list(LENGTH ${arch} expected)
  set(assembly ${FOLDER}/${arch}.s)
  execute_process(COMMAND ${COMPILER} --target=x86_64-pc-windows-msvc /std:c++20 /O2 /fp:fast ${float_flags} ${arch_flags} -Werror
      -I${INCLUDE} -DEXPECTED=${expected} /clang:-S /clang:-o${assembly} -- ${CMAKE_CURRENT_LIST_DIR}/clang_cl.cpp
    RESULT_VARIABLE status OUTPUT_VARIABLE said ERROR_VARIABLE said)
  if(NOT status EQUAL 0)
    message(FATAL_ERROR "${arch}: ${float_flags} ${arch_flags} ended with ${status}:\n${said}")
  endif()
  file(READ ${assembly} text)
  if(text MATCHES "fmadd" OR NOT text MATCHES "mulss" OR NOT text MATCHES "addss")
    message(FATAL_ERROR "${arch}: ${float_flags} should keep a product and a sum apart:\n${text}")
  endif()
endforeach()
