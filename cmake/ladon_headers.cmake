# SPDX-License-Identifier: Apache-2.0
# Finds the headers of libraries such as xsimd. The source tree and the installed package share this file.
#
#   ladon_find_headers(<variable> <name> <header>)   sets <variable> to the include folder of <header>, or to ""
#   ladon_wants_xsimd(<variable>)                    sets <variable> to TRUE if xsimd supports the target machine
#   ladon_set_vectors(<target> [<folder>])           selects plain arrays or xsimd for all targets that link <target>
#   ladon_float_flags(<variable>)                    sets <variable> to the flags of g++ and clang++ for floats
#   ladon_set_float_flags(<target>)                  adds the flags for floats to all targets that link <target>

# ladon_find_headers(<variable> <name> <header>): sets <variable> to the folder of <header>. The user can name this
# folder with LADON_<NAME>_INCLUDE_DIR. Otherwise, if the project has a target <name>, its folders are used, because a
# program must not contain two versions of a library. A cross compiler must not see the folder /usr/include of the host,
# because this folder also contains the headers of the host's C library. If only the host has <header>,
# ladon_link_to_host_headers makes a folder that contains only a link to the library's headers.
function(ladon_find_headers out name header)
  string(TOUPPER LADON_${name}_INCLUDE_DIR variable)
  if(${variable} AND NOT EXISTS "${${variable}}/${header}")
    message(FATAL_ERROR "ladon: ${variable} is ${${variable}}, where there is no ${header}")
  endif()
  set(folder "")
  if(TARGET ${name} AND NOT ${variable})
    get_target_property(folder ${name} INTERFACE_INCLUDE_DIRECTORIES)
  endif()
  if(NOT folder)
    find_path(${variable} ${header})
    mark_as_advanced(${variable})
    set(folder "${${variable}}")
  endif()
  if(CMAKE_CROSSCOMPILING AND (NOT folder OR folder MATCHES "^(/usr|/usr/local|/opt/homebrew)/include/?$"))
    ladon_link_to_host_headers(folder ${name} ${header})
  endif()
  if(NOT folder)
    set(folder "")
  endif()
  set(${out} "${folder}" PARENT_SCOPE)
endfunction()

function(ladon_link_to_host_headers out name header)
  string(TOUPPER LADON_HOST_${name}_INCLUDE_DIR variable)
  find_path(${variable} ${header} NO_CMAKE_FIND_ROOT_PATH
            PATHS /usr/include /usr/local/include /opt/homebrew/include)
  mark_as_advanced(${variable})
  set(links "")
  if(${variable})
    string(REGEX REPLACE "/.*" "" package ${header})
    set(links ${PROJECT_BINARY_DIR}/ladon_headers/${name})
    file(MAKE_DIRECTORY ${links})
    file(CREATE_LINK ${${variable}}/${package} ${links}/${package} SYMBOLIC)
  endif()
  set(${out} "${links}" PARENT_SCOPE)
endfunction()

# ladon_wants_xsimd(<variable>): sets <variable> to TRUE if xsimd supports the target machine. xsimd does not support
# microcontrollers, so builds for microcontrollers do not need xsimd. In a cross build, the function compiles a test
# with the flags of the toolchain file. The test checks the macros that include/ladon/detail/vec/choose.hpp checks.
# Under Emscripten, the result is always TRUE, because the flags for SIMD are set later.
function(ladon_wants_xsimd out)
  set(wanted TRUE)
  if(CMAKE_CROSSCOMPILING AND CMAKE_CXX_COMPILER_LOADED AND NOT EMSCRIPTEN AND NOT LADON_XSIMD_INCLUDE_DIR)
    include(CheckCXXSourceCompiles)
    set(CMAKE_TRY_COMPILE_TARGET_TYPE STATIC_LIBRARY)
    set(CMAKE_REQUIRED_QUIET TRUE)
    check_cxx_source_compiles("
      #if !defined(__SSE2__) && !defined(_M_X64) && !defined(__aarch64__) && !defined(__ARM_NEON)
      #error
      #endif" LADON_XSIMD_KNOWS_TARGET)
    set(wanted ${LADON_XSIMD_KNOWS_TARGET})
  endif()
  set(${out} ${wanted} PARENT_SCOPE)
endfunction()

# ladon_set_vectors(<target> [<folder of xsimd>...]): selects the SIMD vectors of all targets that link <target>. The
# vectors are plain arrays if LADON_ARRAY_LANES is set or <folder of xsimd> is not given. Otherwise, the vectors are
# xsimd's.
function(ladon_set_vectors target)
  if(LADON_ARRAY_LANES)
    target_compile_definitions(${target} INTERFACE $<BUILD_INTERFACE:LADON_ARRAY_LANES=${LADON_ARRAY_LANES}>)
  elseif(ARGN)
    target_include_directories(${target} SYSTEM INTERFACE "$<BUILD_INTERFACE:${ARGN}>")
  endif()
endfunction()

# ladon_float_flags(<variable>): sets <variable> to flags of g++ and clang++. -ffp-contract=off stops the compiler from
# fusing multiplications and additions. Otherwise, g++ would fuse them in one instantiation but not in another, and
# attention would have different results for two layouts of the same weights. -fno-math-errno makes sqrt an instruction
# instead of a call into libm. The other flags take back -ffast-math, or parts of it, if the program has such flags.
# settings.hpp says why. clang-cl needs a prefix, and fuses by default, even with /fp:precise.
function(ladon_float_flags out)
  set(flags -fno-fast-math -fno-unsafe-math-optimizations -fno-finite-math-only -fno-associative-math
    -ffp-contract=off -fno-math-errno)
  if(EMSCRIPTEN)
    list(REMOVE_ITEM flags -fno-unsafe-math-optimizations) # clang++ 14 warns: no floating-point exceptions
  endif()
  if(MSVC)
    list(TRANSFORM flags PREPEND /clang:)
    list(PREPEND flags /fp:precise)
  endif()
  set(${out} ${flags} PARENT_SCOPE)
endfunction()

function(ladon_set_float_flags target)
  ladon_float_flags(flags)
  target_compile_options(${target} INTERFACE
    "$<BUILD_INTERFACE:$<$<COMPILE_LANG_AND_ID:CXX,GNU,Clang,AppleClang>:${flags}>>"
    "$<BUILD_INTERFACE:$<$<COMPILE_LANG_AND_ID:CXX,MSVC>:/fp:precise>>")
endfunction()
