# SPDX-License-Identifier: Apache-2.0
# Toolchain file for other processors under Linux, with Debian's cross compilers (package g++-<triple>). LADON_TRIPLE
# selects the processor. QEMU (Debian's qemu-user) runs the programs.
set(LADON_TRIPLE aarch64-linux-gnu CACHE STRING
  "aarch64-linux-gnu, arm-linux-gnueabihf, riscv64-linux-gnu, s390x-linux-gnu or another triple of Debian")
set(LADON_CLANG "" CACHE STRING "A clang++ that compiles C++ instead of g++, with the C++ library of g++")
set(LADON_QEMU_CPU "" CACHE STRING "The processor that QEMU emulates (qemu-<processor> -cpu help); empty: QEMU's default")
list(APPEND CMAKE_TRY_COMPILE_PLATFORM_VARIABLES LADON_TRIPLE LADON_CLANG)

set(CMAKE_SYSTEM_NAME Linux)
string(REGEX REPLACE "-.*" "" CMAKE_SYSTEM_PROCESSOR ${LADON_TRIPLE})
set(CMAKE_C_COMPILER ${LADON_TRIPLE}-gcc)
set(CMAKE_CXX_COMPILER ${LADON_TRIPLE}-g++)
if(LADON_CLANG)
  set(CMAKE_CXX_COMPILER ${LADON_CLANG})
  set(CMAKE_CXX_COMPILER_TARGET ${LADON_TRIPLE})
endif()
set(CMAKE_FIND_ROOT_PATH /usr/${LADON_TRIPLE})
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
set(CMAKE_FIND_ROOT_PATH_MODE_LIBRARY ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_INCLUDE ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_PACKAGE ONLY)
string(REPLACE "powerpc" "ppc" qemu qemu-${CMAKE_SYSTEM_PROCESSOR})
string(REPLACE "i686" "i386" qemu ${qemu})
set(CMAKE_CROSSCOMPILING_EMULATOR ${qemu} -L /usr/${LADON_TRIPLE})
if(LADON_QEMU_CPU)
  list(APPEND CMAKE_CROSSCOMPILING_EMULATOR -cpu ${LADON_QEMU_CPU})
endif()
