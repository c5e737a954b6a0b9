# SPDX-License-Identifier: Apache-2.0
# Toolchain file for microcontrollers of Arm with gcc-arm-none-eabi (on Debian also libnewlib-arm-none-eabi and
# libstdc++-arm-none-eabi-newlib). LADON_CPU selects the core. A board of QEMU with this core runs the programs
# (examples/firmware/board/run).
set(LADON_CPU cortex-m4 CACHE STRING "cortex-m0plus, cortex-m4, cortex-m7, cortex-m33 or cortex-m55")
set_property(CACHE LADON_CPU PROPERTY STRINGS cortex-m0plus cortex-m4 cortex-m7 cortex-m33 cortex-m55)
list(APPEND CMAKE_TRY_COMPILE_PLATFORM_VARIABLES LADON_CPU)

set(CMAKE_SYSTEM_NAME Generic)
set(CMAKE_SYSTEM_PROCESSOR arm)
set(CMAKE_C_COMPILER arm-none-eabi-gcc)
set(CMAKE_CXX_COMPILER arm-none-eabi-g++)
set(CMAKE_ASM_COMPILER arm-none-eabi-gcc)
# The compiler checks of CMake build static libraries instead of programs. A program would need a linker script, but the
# board and its linker script are not known here.
set(CMAKE_TRY_COMPILE_TARGET_TYPE STATIC_LIBRARY)

# The flags of the M7 select a single-precision FPU, because most chips with an M7 have no double-precision FPU.
set(fpu_cortex-m0plus -mfloat-abi=soft)
set(fpu_cortex-m4 -mfpu=fpv4-sp-d16 -mfloat-abi=hard)
set(fpu_cortex-m7 -mfpu=fpv5-sp-d16 -mfloat-abi=hard)
set(fpu_cortex-m33 -mfpu=fpv5-sp-d16 -mfloat-abi=hard)
set(fpu_cortex-m55 -mfpu=auto -mfloat-abi=hard) # Helium with floats
if(NOT DEFINED fpu_${LADON_CPU})
  message(FATAL_ERROR
    "LADON_CPU is '${LADON_CPU}'; allowed: cortex-m0plus, cortex-m4, cortex-m7, cortex-m33, cortex-m55")
endif()
list(JOIN fpu_${LADON_CPU} " " flags)
set(flags "-mcpu=${LADON_CPU} -mthumb ${flags}")
foreach(language C CXX ASM)
  set(CMAKE_${language}_FLAGS_INIT ${flags})
endforeach()

set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
set(CMAKE_FIND_ROOT_PATH_MODE_LIBRARY ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_INCLUDE ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_PACKAGE ONLY)
set(CMAKE_CROSSCOMPILING_EMULATOR ${CMAKE_CURRENT_LIST_DIR}/../examples/firmware/board/run ${LADON_CPU})
