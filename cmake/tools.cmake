# SPDX-License-Identifier: Apache-2.0
# Parts that have dependencies of their own: each is added where it is first asked for, so that who does not use it
# needs none of them.
#
#   ladon_need_files()          ladon_files, files read and written with care
#   ladon_need_safetensors()    ladon_safetensors, a reader of that format
#   ladon_need_weights_tool()   ladon_weights, the program ladon-weights, which puts a checkpoint's tensors into a library

set(ladon_source_dir ${CMAKE_CURRENT_SOURCE_DIR} CACHE INTERNAL "")
set(ladon_binary_dir ${CMAKE_CURRENT_BINARY_DIR} CACHE INTERNAL "")

# All the others stand on this one, and are compiled with ladon_checks.
function(ladon_need_files)
  if(NOT TARGET ladon_checks)
    include(${ladon_source_dir}/cmake/options.cmake)
  endif()
  if(NOT TARGET ladon_files)
    add_subdirectory(${ladon_source_dir}/src/files ${ladon_binary_dir}/src/files)
  endif()
endfunction()

function(ladon_need_safetensors)
  ladon_need_files()
  if(NOT TARGET ladon_safetensors)
    add_subdirectory(${ladon_source_dir}/src/safetensors ${ladon_binary_dir}/src/safetensors)
  endif()
endfunction()

function(ladon_need_weights_tool)
  if(NOT TARGET ladon_weights)
    add_subdirectory(${ladon_source_dir}/src/weights ${ladon_binary_dir}/src/weights)
  endif()
endfunction()
