# SPDX-License-Identifier: Apache-2.0
# For projects that make nothing but modules of WebAssembly (wasm, wasm/tests/kernels, bench/browser): include it after
# project(). It adds Ladon, and
#
#   ladon_add_modules(<target> <name> ...)    the modules of ladon_add_kernel(<name> ...), made with <target>
if(NOT EMSCRIPTEN)
  message(FATAL_ERROR "ladon: modules of WebAssembly are made by Emscripten: emcmake cmake ...")
endif()
if(NOT CMAKE_BUILD_TYPE)
  set(CMAKE_BUILD_TYPE Release)
endif()
add_subdirectory(${CMAKE_CURRENT_LIST_DIR}/.. ladon EXCLUDE_FROM_ALL)

function(ladon_add_modules target name)
  ladon_add_kernel(${name} ${ARGN})
  set_target_properties(${name} PROPERTIES EXCLUDE_FROM_ALL TRUE) # the library: nobody here links it
  add_dependencies(${target} ${name}_modules)
endfunction()
