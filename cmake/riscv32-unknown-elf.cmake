# SPDX-License-Identifier: Apache-2.0
# Cross build for microcontrollers of RISC-V: rv32imafc, by gcc-riscv64-unknown-elf with picolibc-riscv64-unknown-elf.
# Programs are run by QEMU's board virt (examples/firmware/board/run).
set(LADON_CPU rv32imafc CACHE STRING "The only one")

set(CMAKE_SYSTEM_NAME Generic)
set(CMAKE_SYSTEM_PROCESSOR riscv32)
set(CMAKE_C_COMPILER riscv64-unknown-elf-gcc)
set(CMAKE_CXX_COMPILER riscv64-unknown-elf-g++)
set(CMAKE_TRY_COMPILE_TARGET_TYPE STATIC_LIBRARY) # what to link with is the board's matter

set(flags "-march=rv32imafc -mabi=ilp32f --specs=picolibc.specs")
set(CMAKE_C_FLAGS_INIT ${flags})
set(CMAKE_CXX_FLAGS_INIT ${flags})

# Debian's has no C++ headers. Those of its compiler for Arm are of the same version, and what Ladon includes of them
# knows no processor.
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
