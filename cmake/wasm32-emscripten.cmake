# SPDX-License-Identifier: Apache-2.0
# Toolchain file for WebAssembly programs that Node and Chromium run (tests/wasm). Needs Emscripten 3.1.6 (Debian's) or
# later. LADON_WASM_VARIANT selects the instructions: scalar, simd or relaxed.
find_program(LADON_EMCONFIG em-config REQUIRED)
execute_process(COMMAND ${LADON_EMCONFIG} EMSCRIPTEN_ROOT OUTPUT_VARIABLE emscripten_root
  OUTPUT_STRIP_TRAILING_WHITESPACE COMMAND_ERROR_IS_FATAL ANY)
include(${emscripten_root}/cmake/Modules/Platform/Emscripten.cmake)
list(APPEND CMAKE_TRY_COMPILE_PLATFORM_VARIABLES LADON_WASM_VARIANT)

set(CMAKE_CROSSCOMPILING_EMULATOR node ${CMAKE_CURRENT_LIST_DIR}/../tests/wasm/run.mjs)

# Emscripten 3.1.6 cannot make relaxed SIMD for current engines: its LLVM 14 writes old opcodes, which current engines
# do not support, and its Binaryen cannot read the final opcodes. So a newer clang++ compiles with Emscripten's headers,
# and a newer wasm-ld links Emscripten's libraries, as em++ would do.
if(LADON_WASM_VARIANT STREQUAL "relaxed" AND EMSCRIPTEN_VERSION VERSION_LESS 3.1.40)
  find_program(LADON_NEWER_WASM_LD wasm-ld REQUIRED NO_DEFAULT_PATH
    PATHS /usr/lib/llvm-19/bin /usr/lib/llvm-18/bin /usr/lib/llvm-17/bin /opt/homebrew/opt/llvm/bin)
  cmake_path(GET LADON_NEWER_WASM_LD PARENT_PATH llvm)
  set(newer_llvm ${CMAKE_COMMAND} -E env EM_LLVM_ROOT=${llvm} EM_CLANG_ADD_VERSION= EM_LLVM_ADD_VERSION=
    EM_IGNORE_SANITY=1)
  set(CMAKE_C_COMPILER_LAUNCHER ${newer_llvm})
  set(CMAKE_CXX_COMPILER_LAUNCHER ${newer_llvm})
  set(libraries ${EMSCRIPTEN_SYSROOT}/lib/wasm32-emscripten)
  string(CONCAT link "${LADON_NEWER_WASM_LD} -o <TARGET> ${libraries}/crt1.o <OBJECTS> <LINK_LIBRARIES> -L${libraries} "
    "-lstandalonewasm-memgrow -lc++-except -lc++abi-except -lunwind-except -lc -ldlmalloc -lcompiler_rt "
    "-z stack-size=8388608 --stack-first --gc-sections --allow-undefined")
  set(CMAKE_C_LINK_EXECUTABLE "${link}")
  set(CMAKE_CXX_LINK_EXECUTABLE "${link}")
else()
  set(CMAKE_EXE_LINKER_FLAGS_INIT
    "-fwasm-exceptions -sSTANDALONE_WASM -sALLOW_MEMORY_GROWTH -sTOTAL_STACK=8388608 -sINITIAL_MEMORY=33554432")
  # Undefined symbols are allowed, because the host of the program (tests/wasm/run.mjs) provides functions that
  # Emscripten does not have.
  string(APPEND CMAKE_EXE_LINKER_FLAGS_INIT " -sERROR_ON_UNDEFINED_SYMBOLS=0 -sWARN_ON_UNDEFINED_SYMBOLS=0")
endif()
