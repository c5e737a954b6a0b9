# SPDX-License-Identifier: Apache-2.0
# Toolchain file for RISC-V microcontrollers (rv32imafc) with gcc-riscv64-unknown-elf and picolibc-riscv64-unknown-elf.
# QEMU's board virt runs the programs (examples/firmware/board/run).
set(LADON_CPU rv32imafc CACHE STRING "The only supported CPU")

set(CMAKE_SYSTEM_NAME Generic)
set(CMAKE_SYSTEM_PROCESSOR riscv32)
set(CMAKE_C_COMPILER riscv64-unknown-elf-gcc)
set(CMAKE_CXX_COMPILER riscv64-unknown-elf-g++)
# The compiler checks of CMake build static libraries instead of programs. A program would need a linker script, but the
# board and its linker script are not known here.
set(CMAKE_TRY_COMPILE_TARGET_TYPE STATIC_LIBRARY)

set(flags "-march=rv32imafc -mabi=ilp32f --specs=picolibc.specs")
set(CMAKE_C_FLAGS_INIT ${flags})
set(CMAKE_CXX_FLAGS_INIT ${flags})

# Uses the C++ headers of Debian's compiler for Arm, because Debian's compiler for RISC-V has no C++ headers. Both
# compilers have the same version, and the headers that Ladon includes do not depend on the processor.
file(GLOB headers /usr/include/newlib/c++/12.*)
if(headers)
  list(GET headers 0 headers)
  string(APPEND CMAKE_CXX_FLAGS_INIT " -isystem ${headers} -isystem ${headers}/arm-none-eabi/thumb/v7e-m+fp/hard")
endif()

set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
set(CMAKE_FIND_ROOT_PATH_MODE_LIBRARY ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_INCLUDE ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_PACKAGE ONLY)
set(CMAKE_CROSSCOMPILING_EMULATOR ${CMAKE_CURRENT_LIST_DIR}/../examples/firmware/board/run ${LADON_CPU})
