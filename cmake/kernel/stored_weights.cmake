# SPDX-License-Identifier: Apache-2.0
# Implements the argument WEIGHTS: ladon-weights packs the tensors of a checkpoint, and the library contains the packed
# tensors.

# If WEIGHTS is given, sets `checkpoint` to the path of the checkpoint, `shards` to its files, and `tool` and
# `tool_target` to the program ladon-weights and to the target that builds the program.
macro(ladon_kernel_checkpoint)
  if(DEFINED arg_WEIGHTS)
    ladon_kernel_refuse("WEIGHTS stores little-endian numbers, which a big-endian machine cannot use in place; load the \
tensors with ladon::safetensors" CMAKE_CXX_BYTE_ORDER STREQUAL "BIG_ENDIAN")
    cmake_path(ABSOLUTE_PATH arg_WEIGHTS BASE_DIRECTORY ${CMAKE_CURRENT_SOURCE_DIR} OUTPUT_VARIABLE checkpoint)
    get_source_file_property(made_by_the_build ${checkpoint} GENERATED)
    ladon_kernel_refuse("WEIGHTS is ${checkpoint}, which does not exist"
      NOT EXISTS ${checkpoint} AND NOT made_by_the_build)
    ladon_kernel_refuse("WEIGHTS needs a compiler with inline assembly; allowed: clang-cl instead of MSVC"
      MSVC AND NOT CMAKE_CXX_COMPILER_ID MATCHES "Clang")
    ladon_kernel_weights_tool(tool tool_target)
    set(shards ${checkpoint})
    if(IS_DIRECTORY ${checkpoint})
      file(GLOB shards CONFIGURE_DEPENDS ${checkpoint}/*.safetensors ${checkpoint}/*.index.json)
    elseif(checkpoint MATCHES "[.]index[.]json$")
      cmake_path(GET checkpoint PARENT_PATH shards_folder)
      file(GLOB shards CONFIGURE_DEPENDS ${checkpoint} ${shards_folder}/*.safetensors)
    endif()
  endif()
endmacro()

# If WEIGHTS is given, packs the tensors of the checkpoint, and adds an object that holds the bytes of the packed
# tensors in a section of constants.
macro(ladon_kernel_stored_weights)
  if(DEFINED arg_WEIGHTS)
    ladon_kernel_for_agreement(${folder}/${NAME}_kernel.txt)
    set(tensors ${folder}/${NAME}_tensors.inc)
    list(TRANSFORM arg_PREFIX PREPEND --prefix= OUTPUT_VARIABLE prefix_option)
    set(data_file ${folder}/${NAME}_weights.bin)
    set(offsets_file ${folder}/${NAME}_offsets.h)
    add_custom_command(OUTPUT ${data_file} ${offsets_file}
      COMMAND ${tool} pack ${checkpoint} ${prefix_option} --tensors ${tensors}
        --kernel ${folder}/${NAME}_kernel.txt --data ${data_file} --offsets ${offsets_file} --namespace ${NAME}_offsets
      DEPENDS ${shards} ${tensors} ${tool} ${tool_target} VERBATIM
      COMMENT "Weights of ${NAME} from ${WEIGHTS_NAME}")
    ladon_kernel_assembler_string(data_string "${data_file}")
    ladon_kernel_put(stored_weights.cpp ${folder}/${NAME}_stored.cpp)
    set_source_files_properties(${folder}/${NAME}_stored.cpp PROPERTIES OBJECT_DEPENDS "${data_file};${offsets_file}")
    ladon_kernel_add_object(${NAME}_stored default)
  endif()
endmacro()

# ladon_kernel_for_agreement(<file>): writes what `ladon-weights pack` compares with the config.json of the checkpoint
# (src/weights/kernel_agreement.hpp).
function(ladon_kernel_for_agreement file)
  set(part attention)
  if(LAYERS_given)
    set(part stack)
  elseif(FEED_FORWARD_given)
    set(part layer)
  endif()
  if(MEMORY_given)
    string(REGEX REPLACE "stack$" "" part "decoder_${part}")
    string(REGEX REPLACE "_$" "" part "${part}")
  endif()
  set(text "part ${part}\n")
  if(FEED_FORWARD_given OR QUERY_KEY_NORM_given)
    string(APPEND text "epsilon ${arg_EPSILON}\n")
  endif()
  if(CACHE_given AND NOT MASK_given) # a new token sees all tokens in the cache
    string(APPEND text "any causal\n")
  endif()
  file(CONFIGURE OUTPUT ${file} CONTENT "${text}${model_statements}" @ONLY)
endfunction()

# ladon_kernel_weights_tool(<out> <dependency>): sets <out> to the program ladon-weights for the build machine, and
# <dependency> to the target that builds the program, or to an empty text. A native build takes the target ladon::weights,
# which Ladon's sources can make. A cross build with Ladon's sources builds the program in a separate build. Any other
# build takes LADON_WEIGHTS_TOOL, or an installed program.
function(ladon_kernel_weights_tool out dependency)
  set(${dependency} "" PARENT_SCOPE)
  if(NOT CMAKE_CROSSCOMPILING AND NOT TARGET ladon::weights AND COMMAND ladon_need_weights_tool)
    ladon_need_weights_tool()
  endif()
  if(NOT CMAKE_CROSSCOMPILING AND TARGET ladon::weights)
    set(${out} ladon::weights PARENT_SCOPE)
  elseif(CMAKE_CROSSCOMPILING AND NOT LADON_WEIGHTS_TOOL AND COMMAND ladon_need_host_weights_tool)
    ladon_need_host_weights_tool()
    set(${out} ${ladon_host_weights_program} PARENT_SCOPE)
    set(${dependency} ladon_host_weights PARENT_SCOPE)
  else()
    find_program(LADON_WEIGHTS_TOOL ladon-weights)
    ladon_kernel_refuse("WEIGHTS needs the program ladon-weights: install Ladon's component weights for the build machine, \
or name the program with -DLADON_WEIGHTS_TOOL=<file>" NOT LADON_WEIGHTS_TOOL)
    set(${out} ${LADON_WEIGHTS_TOOL} PARENT_SCOPE)
  endif()
endfunction()
