# SPDX-License-Identifier: Apache-2.0
# Finds the tools that make WebAssembly modules, in addition to the compiler em++: a linker, llvm-objcopy, wasm-opt, and
# for relaxed SIMD a clang that writes the final opcodes.

# ladon_wasm_tools(): searches for the tools, and sets the following variables in the cache. Later calls in the same run
# of CMake do not search again.
#   LADON_WASM_LD           wasm-ld of em++'s own LLVM
#   LADON_WASM_OBJCOPY      llvm-objcopy of em++'s own LLVM
#   LADON_WASM_OPT          wasm-opt of em++'s Binaryen, or NOTFOUND
#   LADON_WASM_RELAXED      own: em++ can make relaxed modules; <folder>: em++ needs the LLVM in this folder; empty: no
#                           tool can make relaxed modules. The user can set NONE to make no relaxed modules
function(ladon_wasm_tools)
  get_property(known GLOBAL PROPERTY ladon_wasm_tools_known)
  if(known)
    return()
  endif()
  set_property(GLOBAL PROPERTY ladon_wasm_tools_known TRUE)
  cmake_path(GET CMAKE_CXX_COMPILER PARENT_PATH beside)
  find_program(LADON_EM_CONFIG em-config HINTS ${EMSCRIPTEN_ROOT_PATH} ${beside} NO_CMAKE_FIND_ROOT_PATH REQUIRED)
  ladon_emscripten_setting(llvm LLVM_ROOT)
  ladon_emscripten_setting(binaryen BINARYEN_ROOT)
  ladon_emscripten_setting(version LLVM_ADD_VERSION) # the names of Debian's programs end in a version
  foreach(tool wasm-ld llvm-objcopy)
    set(names_${tool} ${tool})
    if(version)
      list(PREPEND names_${tool} ${tool}-${version})
    endif()
  endforeach()
  find_program(LADON_WASM_LD NAMES ${names_wasm-ld} NAMES_PER_DIR HINTS ${llvm} NO_CMAKE_FIND_ROOT_PATH REQUIRED)
  find_program(LADON_WASM_OBJCOPY NAMES ${names_llvm-objcopy} NAMES_PER_DIR HINTS ${llvm}
    NO_CMAKE_FIND_ROOT_PATH REQUIRED)
  find_program(LADON_WASM_OPT wasm-opt HINTS ${binaryen}/bin ${binaryen} NO_CMAKE_FIND_ROOT_PATH)
  mark_as_advanced(LADON_EM_CONFIG LADON_WASM_LD LADON_WASM_OBJCOPY LADON_WASM_OPT)
  if(NOT LADON_WASM_RELAXED) # searched again in each run, because a tool may have been installed
    ladon_find_relaxed(relaxed)
    set(LADON_WASM_RELAXED "${relaxed}" CACHE STRING
      "The LLVM for relaxed SIMD: own (em++'s LLVM), the folder of another LLVM's programs, or NONE" FORCE)
  endif()
endfunction()

function(ladon_emscripten_setting out name)
  execute_process(COMMAND ${LADON_EM_CONFIG} ${name} OUTPUT_VARIABLE value ERROR_QUIET OUTPUT_STRIP_TRAILING_WHITESPACE)
  set(${out} "${value}" PARENT_SCOPE)
endfunction()

# ladon_find_relaxed(<variable>): selects the LLVM that compiles relaxed SIMD. If em++'s LLVM has at least version 17,
# sets <variable> to `own`. Otherwise, sets <variable> to the folder of an LLVM of at least version 17, or to "" if no
# such LLVM is installed. LLVM 16 was the first with the final opcodes of relaxed SIMD, and LLVM 17 the first with the
# final names of the intrinsics. em++ and the selected LLVM may have different versions: em++ 3.1.6 has LLVM 14, but
# works with the clang of LLVM 19.
function(ladon_find_relaxed out)
  set(candidates "")
  if(CMAKE_CXX_COMPILER_VERSION VERSION_GREATER_EQUAL 17)
    set(candidates own)
  endif()
  foreach(version 19 18 17)
    find_program(clang_${version} clang++ HINTS /usr/lib/llvm-${version}/bin /opt/homebrew/opt/llvm@${version}/bin
      NO_DEFAULT_PATH NO_CACHE)
    if(clang_${version})
      cmake_path(GET clang_${version} PARENT_PATH folder)
      if(EXISTS ${folder}/wasm-ld)
        list(APPEND candidates ${folder})
      endif()
    endif()
  endforeach()
  set(source ${CMAKE_BINARY_DIR}/CMakeFiles/ladon_relaxed.cpp)
  file(WRITE ${source} "#include <wasm_simd128.h>\n"
    "v128_t f(v128_t a, v128_t b, v128_t c) { return wasm_f32x4_relaxed_madd(a, b, c); }\n")
  foreach(candidate IN LISTS candidates)
    ladon_em_environment(environment ${candidate})
    execute_process(COMMAND ${environment} ${CMAKE_CXX_COMPILER} -mrelaxed-simd -msimd128 -c ${source} -o ${source}.o
      RESULT_VARIABLE failed OUTPUT_QUIET ERROR_QUIET)
    if(NOT failed)
      set(${out} ${candidate} PARENT_SCOPE)
      return()
    endif()
  endforeach()
  set(${out} "" PARENT_SCOPE)
  message(STATUS "ladon: no modules with relaxed SIMD, which takes an em++ or a clang of LLVM 17 or later "
    "(Debian: clang-19 and lld-19); modules with SIMD and scalar ones are made")
endfunction()

# ladon_em_environment(<variable> <llvm>): sets <variable> to the command prefix with which em++ uses the LLVM in the
# folder <llvm>. If <llvm> is `own`, the prefix is empty.
function(ladon_em_environment out llvm)
  set(environment "")
  if(NOT llvm STREQUAL "own")
    set(environment ${CMAKE_COMMAND} -E env EM_LLVM_ROOT=${llvm} EM_LLVM_ADD_VERSION= EM_CLANG_ADD_VERSION=
      EM_IGNORE_SANITY=1) # otherwise, em++ warns about the other LLVM
  endif()
  set(${out} "${environment}" PARENT_SCOPE)
endfunction()

# ladon_wasm_variants(<variable>): sets <variable> to the kinds of WebAssembly modules that the installed tools can
# make: relaxed, simd and scalar, or fewer of them. The fastest kind comes first.
function(ladon_wasm_variants out)
  set(variants scalar)
  ladon_xsimd_version(xsimd)
  if(xsimd OR LADON_ARRAY_LANES)
    list(PREPEND variants simd)
    if(LADON_WASM_RELAXED AND NOT LADON_WASM_RELAXED STREQUAL "NONE")
      list(PREPEND variants relaxed)
    endif()
  else()
    message(STATUS "ladon: no modules with SIMD, which takes xsimd (Debian: libxsimd-dev, or LADON_XSIMD_INCLUDE_DIR); "
      "scalar ones are made")
  endif()
  set(${out} ${variants} PARENT_SCOPE)
endfunction()

# ladon_wasm_flags(<variable> <variant>): sets <variable> to the compiler flags for the module <variant>: scalar, simd,
# relaxed, simd.threads or relaxed.threads
function(ladon_wasm_flags out variant)
  set(flags -O2 -fno-pic) # compared with -O2, -O3 makes modules three times as large, but not faster
  if(variant STREQUAL "scalar")
    list(APPEND flags -mcpu=mvp) # the first version of WebAssembly, for engines of 2017
  else()
    # Every engine with SIMD also supports bulk memory, saturating conversions and sign extension, so modules with SIMD
    # may use these instructions, too.
    list(APPEND flags -msimd128 -mbulk-memory -mnontrapping-fptoint -msign-ext)
    ladon_xsimd_version(version)
    if(version VERSION_LESS 11.2)
      list(APPEND flags -msse4.1) # Emscripten has SSE's intrinsics, and xsimd uses them
    endif()
  endif()
  if(variant MATCHES "^relaxed")
    list(APPEND flags -mrelaxed-simd)
  endif()
  if(variant MATCHES "threads$")
    list(APPEND flags -matomics -mmutable-globals)
  endif()
  set(${out} "${flags}" PARENT_SCOPE)
endfunction()

# ladon_wasm_opt_flags(<variable> <variant>): sets <variable> to the flags of wasm-opt for the module <variant>, as
# ladon_wasm_flags
function(ladon_wasm_opt_flags out variant)
  set(flags --mvp-features --enable-mutable-globals)
  if(NOT variant STREQUAL "scalar")
    list(APPEND flags --enable-simd --enable-bulk-memory --enable-sign-ext --enable-nontrapping-float-to-int)
  endif()
  if(variant MATCHES "^relaxed")
    list(APPEND flags --enable-relaxed-simd)
  endif()
  if(variant MATCHES "threads$")
    list(APPEND flags --enable-threads)
  endif()
  set(${out} ${flags} -O2 -Oz PARENT_SCOPE)
endfunction()

# ladon_xsimd_version(<variable>): sets <variable> to the version of the xsimd that ladon::ladon uses, or to 0 if
# ladon::ladon does not use xsimd.
function(ladon_xsimd_version out)
  set(found 0)
  get_target_property(folders ladon::ladon INTERFACE_INCLUDE_DIRECTORIES)
  foreach(folder IN LISTS folders)
    string(REGEX REPLACE "^[$]<BUILD_INTERFACE:(.*)>$" "\\1" folder "${folder}")
    set(header ${folder}/xsimd/config/xsimd_config.hpp)
    if(EXISTS ${header})
      file(STRINGS ${header} lines REGEX "define XSIMD_VERSION_(MAJOR|MINOR) ")
      string(REGEX MATCH "MAJOR ([0-9]+).*MINOR ([0-9]+)" lines "${lines}")
      set(found ${CMAKE_MATCH_1}.${CMAKE_MATCH_2})
    endif()
  endforeach()
  set(${out} ${found} PARENT_SCOPE)
endfunction()
