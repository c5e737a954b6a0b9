# cmake -DCOMPILER=<clang-cl> -DINCLUDE=<folder> -DFOLDER=<folder> -DSET=<test set>
#   [-DMINGW=<g++ of MinGW> -DXSIMD=<folder>] -P clang_cl.cmake
# Compiles clang_cl.cpp by clang-cl, with the flags of ladon::native for each instruction set. The compiler must know
# all flags (-Werror), select the instruction set, and fuse no product with a sum, even if the program has /fp:fast.
# With MINGW, also compiles all classes. The headers of MinGW then replace those of Windows. The usual test set compiles
# them for the instruction sets with none, with some and with all of the macros below.
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
set(compile ${COMPILER} --target=x86_64-pc-windows-msvc /std:c++20 /W4 -Werror -I${INCLUDE})
if(MINGW)
  # A folder of links, because a cross compiler must not see the other headers beside xsimd.
  file(MAKE_DIRECTORY ${FOLDER}/xsimd)
  file(CREATE_LINK ${XSIMD}/xsimd ${FOLDER}/xsimd/xsimd SYMBOLIC)
  execute_process(COMMAND ${MINGW} -E -xc++ -v /dev/null OUTPUT_QUIET ERROR_VARIABLE said)
  string(REGEX MATCHALL "\n /[^\n]*" folders "${said}")
  list(FILTER folders EXCLUDE REGEX "/gcc/[^/]*/[^/]*/include(-fixed)?$") # intrinsics of g++
  list(TRANSFORM folders REPLACE "\n (.*)" "/imsvc;\\1")
  # The headers of MinGW need macros of g++. clang's intrin.h contradicts them.
  set(classes ${compile} -fgnuc-version=4.2.1 -D__STRICT_ANSI__=1 -D_UCRT -D__INTRIN_H -DCLANG_CL
    -Wno-builtin-macro-redefined -fsyntax-only ${folders} /imsvc ${FOLDER}/xsimd -- ${CMAKE_CURRENT_LIST_DIR}/as_msvc.cpp)
endif()

include(${root}/tests/support/run.cmake)
foreach(arch sse2 avx2 avx_vnni avx512 avx512_vnni avx512_bf16)
  ladon_arch_flags(arch_flags ${arch})
  list(LENGTH ${arch} expected)
  set(assembly ${FOLDER}/${arch}.s)
  run(said ${compile} /O2 /fp:fast ${float_flags} ${arch_flags} -DEXPECTED=${expected} /clang:-S /clang:-o${assembly}
    -- ${CMAKE_CURRENT_LIST_DIR}/clang_cl.cpp)
  file(READ ${assembly} text)
  if(text MATCHES "fmadd" OR NOT text MATCHES "mulss" OR NOT text MATCHES "addss")
    message(FATAL_ERROR "${arch}: ${float_flags} should keep a product and a sum apart:\n${text}")
  endif()
  if(MINGW AND (arch MATCHES "^(sse2|avx_vnni|avx512_bf16)$" OR NOT SET STREQUAL "usual"))
    list(TRANSFORM classes REPLACE "^--$" "${float_flags};${arch_flags};--" OUTPUT_VARIABLE command)
    run(said ${command})
  endif()
endforeach()
