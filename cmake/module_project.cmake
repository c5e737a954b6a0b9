# SPDX-License-Identifier: Apache-2.0
# Adds Ladon to a project that makes only WebAssembly modules (wasm, wasm/tests/kernels, bench/browser). Include this
# file after project(). The file also defines functions for the project:
#   ladon_add_modules(<target> <name> ...)    adds the kernel <name>; building <target> makes the modules of the kernel
#   ladon_precompile_kernels()                precompiles the headers of all kernels of the directory; call it last
if(NOT EMSCRIPTEN)
  message(FATAL_ERROR "ladon: WebAssembly modules need Emscripten: emcmake cmake ...")
endif()
if(NOT CMAKE_BUILD_TYPE)
  set(CMAKE_BUILD_TYPE Release)
endif()
add_subdirectory(${CMAKE_CURRENT_LIST_DIR}/.. ladon EXCLUDE_FROM_ALL)
include(${CMAKE_CURRENT_LIST_DIR}/precompile_kernels.cmake)

function(ladon_add_modules target name)
  ladon_add_kernel(${name} ${ARGN})
  set_target_properties(${name} PROPERTIES EXCLUDE_FROM_ALL TRUE) # the static library: no target links it
  add_dependencies(${target} ${name}_modules)
endfunction()
