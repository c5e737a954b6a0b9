# SPDX-License-Identifier: Apache-2.0
# Adds parts of Ladon with additional dependencies on demand, so that a build without a part does not need the
# dependencies of the part.
#
#   ladon_need_files()          ladon_files: reads and replaces files
#   ladon_need_safetensors()    ladon_safetensors: reads safetensors files
#   ladon_need_weights_tool()   ladon_weights: the program ladon-weights, which packs tensors for a kernel

set(ladon_source_dir ${CMAKE_CURRENT_SOURCE_DIR} CACHE INTERNAL "")
set(ladon_binary_dir ${CMAKE_CURRENT_BINARY_DIR} CACHE INTERNAL "")

# Adds the target ladon_files. The other parts need this part, and all parts are compiled with ladon_checks.
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
