# SPDX-License-Identifier: Apache-2.0
# Adds Ladon to a project that makes only WebAssembly modules (wasm, wasm/tests/kernels, bench/browser). Include this
# file after project(). The file also defines two functions for the project:
#   ladon_add_modules(<target> <name> ...)    adds the kernel <name>; building <target> makes the modules of the kernel
#   ladon_precompile_modules()                precompiles the headers of all kernels of the directory; call it last
if(NOT EMSCRIPTEN)
  message(FATAL_ERROR "ladon: WebAssembly modules need Emscripten: emcmake cmake ...")
endif()
if(NOT CMAKE_BUILD_TYPE)
  set(CMAKE_BUILD_TYPE Release)
endif()
add_subdirectory(${CMAKE_CURRENT_LIST_DIR}/.. ladon EXCLUDE_FROM_ALL)

function(ladon_add_modules target name)
  ladon_add_kernel(${name} ${ARGN})
  set_target_properties(${name} PROPERTIES EXCLUDE_FROM_ALL TRUE) # the static library: no target links it
  add_dependencies(${target} ${name}_modules)
endfunction()

# ladon_precompile_modules(): precompiles Ladon's headers for the modules of the calling directory. Object files with
# equal flags share one precompiled header. Without precompiled headers, parsing the headers takes a third of the
# compile time of a kernel. The object files have the same bytes with and without a precompiled header. Two object files
# would save only as much time as their precompiled header costs, so only groups of three or more object files get one.
function(ladon_precompile_modules)
  get_property(targets DIRECTORY PROPERTY BUILDSYSTEM_TARGETS)
  list(FILTER targets INCLUDE REGEX "_(code|describe|describe_default|int8)$")
  list(FILTER targets EXCLUDE REGEX "_stored_code$") # targets of stored weights do not include Ladon
  set(keys "")
  foreach(target IN LISTS targets)
    get_target_property(type ${target} TYPE)
    if(type STREQUAL "OBJECT_LIBRARY")
      set(key "")
      foreach(property COMPILE_OPTIONS COMPILE_DEFINITIONS CXX_COMPILER_LAUNCHER)
        get_target_property(value ${target} ${property})
        string(APPEND key "${value} ")
      endforeach()
      string(MD5 key "${key}")
      list(APPEND keys ${key})
      list(APPEND targets_${key} ${target})
    endif()
  endforeach()
  list(REMOVE_DUPLICATES keys)
  file(CONFIGURE OUTPUT precompiled.cpp CONTENT "")
  foreach(key IN LISTS keys)
    list(LENGTH targets_${key} count)
    if(count GREATER 2)
      list(GET targets_${key} 0 first)
      set(header ${first}_headers)
      add_library(${header} OBJECT EXCLUDE_FROM_ALL ${CMAKE_CURRENT_BINARY_DIR}/precompiled.cpp)
      target_link_libraries(${header} PRIVATE ladon::ladon)
      foreach(property COMPILE_OPTIONS COMPILE_DEFINITIONS CXX_COMPILER_LAUNCHER POSITION_INDEPENDENT_CODE
                       CXX_VISIBILITY_PRESET VISIBILITY_INLINES_HIDDEN CXX_EXTENSIONS INTERPROCEDURAL_OPTIMIZATION)
        get_target_property(value ${first} ${property})
        if(NOT value MATCHES "-NOTFOUND$")
          set_target_properties(${header} PROPERTIES ${property} "${value}")
        endif()
      endforeach()
      target_precompile_headers(${header} PRIVATE <ladon/ladon.hpp>)
      foreach(target IN LISTS targets_${key})
        target_precompile_headers(${target} REUSE_FROM ${header})
      endforeach()
    endif()
  endforeach()
endfunction()
