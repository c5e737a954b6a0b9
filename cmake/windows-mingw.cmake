# SPDX-License-Identifier: Apache-2.0
# Toolchain file for Windows on x86-64 with Debian's g++-mingw-w64-x86-64-posix, or -win32. Wine (Debian's wine64) runs
# the programs. The C++ library is linked into each program, so that the program needs no DLL.
set(LADON_MINGW_THREADS posix CACHE STRING "Threads of the C++ library: posix, or win32, which has no std::thread in g++ 12")
list(APPEND CMAKE_TRY_COMPILE_PLATFORM_VARIABLES LADON_MINGW_THREADS)

set(CMAKE_SYSTEM_NAME Windows)
set(CMAKE_SYSTEM_PROCESSOR x86_64)
set(CMAKE_C_COMPILER x86_64-w64-mingw32-gcc-${LADON_MINGW_THREADS})
set(CMAKE_CXX_COMPILER x86_64-w64-mingw32-g++-${LADON_MINGW_THREADS})
set(CMAKE_RC_COMPILER x86_64-w64-mingw32-windres)
set(CMAKE_EXE_LINKER_FLAGS_INIT -static)
set(CMAKE_FIND_ROOT_PATH /usr/x86_64-w64-mingw32)
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
set(CMAKE_FIND_ROOT_PATH_MODE_LIBRARY ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_INCLUDE ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_PACKAGE ONLY)
set(CMAKE_CROSSCOMPILING_EMULATOR wine)
