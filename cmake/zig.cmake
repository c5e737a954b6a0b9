# SPDX-License-Identifier: Apache-2.0
# Toolchain file for the clang++ of zig (Python package ziglang), which has the C and C++ libraries of its targets.
# LADON_ZIG_TARGET selects the processor and the system: Linux with the C library musl, Windows, macOS or iOS. Programs
# for musl are static, and QEMU (Debian's qemu-user) runs those of other processors. Wine runs programs for Windows. Linux
# can't run programs for macOS. For iOS, zig only compiles.
set(LADON_ZIG zig CACHE STRING "The program zig")
set(LADON_ZIG_TARGET x86_64-linux-musl CACHE STRING
  "A target of zig, such as aarch64-linux-musl, x86_64-windows-gnu or aarch64-macos.12.0")
set(LADON_ZIG_CPU "" CACHE STRING "The processor and its features, such as la464-lsx-lasx; empty: zig's default")
list(APPEND CMAKE_TRY_COMPILE_PLATFORM_VARIABLES LADON_ZIG LADON_ZIG_TARGET LADON_ZIG_CPU)

if(NOT LADON_ZIG_TARGET MATCHES "^([a-z0-9_]+)-(linux-musl|windows-gnu|macos|ios)")
  message(FATAL_ERROR "ladon: LADON_ZIG_TARGET is '${LADON_ZIG_TARGET}'; allowed: a target of zig with linux-musl, \
windows-gnu, macos or ios")
endif()
set(CMAKE_SYSTEM_PROCESSOR ${CMAKE_MATCH_1})
set(ladon_zig_system ${CMAKE_MATCH_2})
if(ladon_zig_system STREQUAL "windows-gnu")
  set(CMAKE_SYSTEM_NAME Windows)
  set(CMAKE_CROSSCOMPILING_EMULATOR wine)
elseif(ladon_zig_system MATCHES "^(macos|ios)$")
  set(CMAKE_SYSTEM_NAME Darwin) # with the name iOS, CMake needs Xcode
  set(CMAKE_INSTALL_NAME_TOOL true) # installed programs need no other paths of libraries
else()
  set(CMAKE_SYSTEM_NAME Linux)
  set(CMAKE_EXE_LINKER_FLAGS_INIT -static)
  if(NOT CMAKE_SYSTEM_PROCESSOR STREQUAL CMAKE_HOST_SYSTEM_PROCESSOR)
    set(CMAKE_CROSSCOMPILING_EMULATOR qemu-${CMAKE_SYSTEM_PROCESSOR})
  endif()
endif()
set(CMAKE_C_COMPILER ${LADON_ZIG} cc)
set(CMAKE_CXX_COMPILER ${LADON_ZIG} c++)
set(CMAKE_C_COMPILER_TARGET ${LADON_ZIG_TARGET})
set(CMAKE_CXX_COMPILER_TARGET ${LADON_ZIG_TARGET})
# zig checks undefined behaviour if a program is not optimised with -O2. Kernels would then need functions of zig.
set(CMAKE_C_FLAGS_INIT -fno-sanitize=undefined)
if(ladon_zig_system STREQUAL "ios")
  # zig has Apple's headers, which serve both systems, but finds them only for macOS.
  execute_process(COMMAND ${LADON_ZIG} env WORKING_DIRECTORY / OUTPUT_VARIABLE ladon_zig_env) # / makes paths absolute
  if(NOT ladon_zig_env MATCHES "\\.lib_dir = \"([^\"]*)\"")
    message(FATAL_ERROR "ladon: '${LADON_ZIG} env' does not print the folder lib_dir")
  endif()
  string(APPEND CMAKE_C_FLAGS_INIT " -isystem ${CMAKE_MATCH_1}/libc/include/any-darwin-any")
  set(CMAKE_TRY_COMPILE_TARGET_TYPE STATIC_LIBRARY)
endif()
if(LADON_ZIG_CPU)
  string(APPEND CMAKE_C_FLAGS_INIT " -mcpu=${LADON_ZIG_CPU}")
endif()
set(CMAKE_CXX_FLAGS_INIT ${CMAKE_C_FLAGS_INIT})
# The tools of this machine may not know the files of another processor.
foreach(language C CXX)
  set(CMAKE_${language}_ARCHIVE_CREATE "${LADON_ZIG} ar qc <TARGET> <LINK_FLAGS> <OBJECTS>")
  set(CMAKE_${language}_ARCHIVE_APPEND "${LADON_ZIG} ar q <TARGET> <LINK_FLAGS> <OBJECTS>")
  set(CMAKE_${language}_ARCHIVE_FINISH "${LADON_ZIG} ranlib <TARGET>")
endforeach()
foreach(tool OBJCOPY OBJDUMP STRIP)
  set(CMAKE_${tool} "" CACHE STRING "zig has none")
endforeach()
if(CMAKE_SYSTEM_NAME STREQUAL "Darwin")
  find_program(CMAKE_NM NAMES llvm-nm-19 llvm-nm) # tests of symbols need it
else()
  set(CMAKE_NM "" CACHE STRING "zig has none")
endif()
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
set(CMAKE_FIND_ROOT_PATH_MODE_LIBRARY ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_INCLUDE ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_PACKAGE ONLY)
