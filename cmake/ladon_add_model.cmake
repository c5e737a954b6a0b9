# SPDX-License-Identifier: Apache-2.0
# ladon_add_model(<name> FOLDER <folder> ...): makes a static library and a C header of a whole model from the folder that
# Hugging Face's save_pretrained writes, or from a folder with a config.json written by hand (docs/import.md).
#
#   lib<name>.a       the target <name>; the library needs no C++ runtime
#   <name>.h          C11 and C++: <name>_start, <name>_run, ...
#   <name>.weights    the file of all weights, for WEIGHTS mapped
#
#   FOLDER <folder>   config.json, and the safetensors files or model.onnx
#   SOURCES <folder>  what `ladon-import FOLDER --c-sources` wrote; by default, it is written into the build folder
#   IMAGE <file>      the file of all weights, if another build has made it; needed in a cross build with WEIGHTS inside
#   TOKENS <n>        the largest number of tokens of a call
#   PRECISION float32|bfloat16|int8|rotated_int8|int4|rotated_int4      of the weights of linear maps
#   ACTIVATION_BITS 8|7      with weights of 8 or 4 bits, the bits of the inputs of the layers' products
#   CACHE_PRECISION float32|bfloat16|int8    the keys and values in the memory of a text; for models that write texts
#   BUDGET <percent>, KEEP <regex>...    with int4 or rotated_int4: 8 bits for some linear maps (docs/precision.md)
#   WEIGHTS inside|mapped    whether the library contains the weights, or <name>_start gets them from the program
#   CHECK <io.safetensors>    the build computes the recorded inputs given.<input>, and fails if the results differ from
#                     the tensors last, pooled or answer of the file, as far as it has them. The file must have one of
#                     them. The tolerance is that of ladon_add_kernel. In a cross build, the check needs
#                     CMAKE_CROSSCOMPILING_EMULATOR, an operating system and the program ladon-import
#   DISPATCH, ARCH, OPTIMIZE    as in ladon_add_kernel
#
# Under Emscripten, the target <name>_modules makes the WebAssembly modules of the model (kernel/model_wasm.cmake). Modules
# have no weights: WEIGHTS must be mapped.
include_guard(GLOBAL)
cmake_policy(VERSION 3.25)
include(${CMAKE_CURRENT_LIST_DIR}/ladon_add_kernel.cmake)
include(${CMAKE_CURRENT_LIST_DIR}/kernel/model_wasm.cmake)

# The sources that `ladon-import --c-sources` writes, behind the name of the model.
set(ladon_model_files .h .hpp _c.cpp _functions.inc _weights.hpp _weights.cpp _image.cpp _module.cmake _check.cpp CACHE INTERNAL "")

function(ladon_add_model NAME)
  if(NOT NAME MATCHES "^[a-z][a-z0-9_]*$")
    message(FATAL_ERROR "ladon_add_model: the name is '${NAME}'; allowed: lower-case letters, digits and _")
  endif()
  set(ladon_kernel_caller ladon_add_model)
  ladon_kernel_check_project()
  ladon_kernel_refuse("the target ${NAME} exists; allowed: another name" TARGET ${NAME} OR TARGET ${NAME}_header)
  set(given_arguments "${ARGN}")
  set(values FOLDER SOURCES IMAGE TOKENS PRECISION ACTIVATION_BITS CACHE_PRECISION BUDGET WEIGHTS CHECK ARCH OPTIMIZE)
  ladon_kernel_check_once(${values})
  cmake_parse_arguments(arg "DISPATCH" "${values}" "KEEP" ${ARGN})
  foreach(choice "WEIGHTS inside|mapped" "PRECISION float32|bfloat16|int8|rotated_int8|int4|rotated_int4"
          "ACTIVATION_BITS 8|7" "CACHE_PRECISION float32|bfloat16|int8")
    string(REGEX MATCH "([A-Z_]+) (([^|]+).*)" found ${choice})
    set(argument ${CMAKE_MATCH_1}) # if() sets CMAKE_MATCH_1 again
    set(allowed ${CMAKE_MATCH_2})
    ladon_kernel_default(${argument} ${CMAKE_MATCH_3})
    string(REPLACE "|" ", " words ${allowed})
    ladon_kernel_refuse("${argument} is '${arg_${argument}}'; allowed: ${words}" NOT arg_${argument} MATCHES "^(${allowed})$")
  endforeach()
  ladon_kernel_truth(needs_image NOT (CMAKE_CROSSCOMPILING AND arg_WEIGHTS STREQUAL mapped))
  list(JOIN arg_UNPARSED_ARGUMENTS " " unknown)
  set(problem "")
  ladon_kernel_guess(guess "${arg_UNPARSED_ARGUMENTS}" ${values} KEEP DISPATCH)
  if(unknown)
    string(JOIN ", " others ${values} KEEP)
    set(problem "'${unknown}' is unknown${guess}; allowed: ${others}, each with a value, and DISPATCH")
  elseif(arg_KEYWORDS_MISSING_VALUES)
    set(problem "no value is given for ${arg_KEYWORDS_MISSING_VALUES}")
  elseif(NOT DEFINED arg_FOLDER AND NOT (DEFINED arg_SOURCES AND (DEFINED arg_IMAGE OR NOT needs_image)))
    set(problem "FOLDER is missing, the folder of a model with config.json")
  elseif(DEFINED arg_TOKENS AND NOT arg_TOKENS MATCHES "^[1-9][0-9]*$")
    set(problem "TOKENS is '${arg_TOKENS}'; allowed: an integer above 0")
  elseif(DEFINED arg_SOURCES AND (DEFINED arg_BUDGET OR DEFINED arg_KEEP))
    set(problem "BUDGET and KEEP go with FOLDER alone; for SOURCES, give ladon-import the options --budget and --keep")
  elseif(arg_ACTIVATION_BITS EQUAL 7 AND NOT arg_PRECISION MATCHES "int[48]$")
    set(problem "ACTIVATION_BITS 7 needs PRECISION int8, int4, rotated_int8 or rotated_int4")
  elseif(arg_ACTIVATION_BITS EQUAL 7 AND DEFINED arg_SOURCES)
    set(problem "ACTIVATION_BITS goes with FOLDER alone; for SOURCES, give ladon-import the option --activation-bits")
  elseif(DEFINED arg_SOURCES AND NOT arg_CACHE_PRECISION STREQUAL float32)
    set(problem "CACHE_PRECISION goes with FOLDER alone; for SOURCES, give ladon-import the option --cache-precision")
  endif()
  if(problem)
    message(FATAL_ERROR "ladon_add_model(${NAME}): ${problem}")
  endif()
  foreach(path FOLDER SOURCES IMAGE CHECK)
    if(DEFINED arg_${path})
      cmake_path(ABSOLUTE_PATH arg_${path} BASE_DIRECTORY ${CMAKE_CURRENT_SOURCE_DIR} NORMALIZE)
    endif()
  endforeach()
  if(NOT DEFINED arg_SOURCES AND NOT EXISTS ${arg_FOLDER}/config.json)
    message(FATAL_ERROR "ladon_add_model(${NAME}): FOLDER is ${arg_FOLDER}, which has no config.json")
  endif()
  ladon_kernel_places()
  set(folder ${CMAKE_CURRENT_BINARY_DIR}/${NAME}_model)
  file(MAKE_DIRECTORY ${folder})
  foreach(flag CHECKED ARGUMENT_CHECKS DETERMINISTIC)
    set(arg_${flag} OFF)
  endforeach()
  set(arg_ARGUMENT_CHECKS ON)
  ladon_kernel_truth(OPTIMIZE_given DEFINED arg_OPTIMIZE)
  set(KEY_BLOCK_given false)
  ladon_model_inputs()
  ladon_model_sources()
  ladon_model_image()
  ladon_model_objects()
  ladon_kernel_library()
  ladon_model_check()
  target_include_directories(${NAME} INTERFACE $<BUILD_INTERFACE:${model_sources}>)
  if(EMSCRIPTEN AND LADON_WASM_MODULES)
    ladon_kernel_refuse("modules have no weights; allowed: WEIGHTS mapped" NOT arg_WEIGHTS MATCHES "^mapped$")
    ladon_model_modules()
  endif()
endfunction()

# ladon_model_tool(<out>): sets <out> to the program ladon-import, or to its target. LADON_IMPORT_TOOL=<file> names another
# program.
function(ladon_model_tool out)
  if(NOT LADON_IMPORT_TOOL AND COMMAND ladon_need_import_tool AND NOT CMAKE_CROSSCOMPILING)
    ladon_need_import_tool()
    set(${out} ladon_import PARENT_SCOPE)
    return()
  endif()
  find_program(LADON_IMPORT_TOOL ladon-import)
  ladon_kernel_refuse("the sources of the model need the program ladon-import: install Ladon for the build machine, name \
the program with -DLADON_IMPORT_TOOL=<file>, or give SOURCES" NOT LADON_IMPORT_TOOL)
  set(${out} ${LADON_IMPORT_TOOL} PARENT_SCOPE)
endfunction()

# Sets model_inputs to the files of FOLDER, and model_is_onnx to whether ladon-import reads its ONNX file. Such a file may
# have external data, whose names only the file knows.
macro(ladon_model_inputs)
  set(model_inputs "")
  set(model_is_onnx FALSE)
  if(DEFINED arg_FOLDER)
    file(GLOB model_inputs CONFIGURE_DEPENDS ${arg_FOLDER}/*.json ${arg_FOLDER}/*.safetensors)
    set(onnx_files "")
    if(NOT EXISTS ${arg_FOLDER}/model.safetensors AND NOT EXISTS ${arg_FOLDER}/model.safetensors.index.json)
      file(GLOB onnx_files ${arg_FOLDER}/model.onnx ${arg_FOLDER}/onnx/model.onnx)
    endif()
    foreach(file IN LISTS onnx_files)
      set(model_is_onnx TRUE)
      cmake_path(GET file PARENT_PATH onnx_folder)
      file(GLOB_RECURSE data CONFIGURE_DEPENDS ${onnx_folder}/*)
      list(APPEND model_inputs ${data})
    endforeach()
  endif()
endmacro()

# Sets model_sources to the folder of the sources, and writes them if SOURCES is not given.
macro(ladon_model_sources)
  set(model_sources ${folder}/sources)
  if(DEFINED arg_SOURCES)
    set(model_sources ${arg_SOURCES})
  else()
    ladon_model_tool(tool)
    set(options --name ${NAME} --precision ${arg_PRECISION})
    if(NOT arg_CACHE_PRECISION STREQUAL float32) # which models without texts have
      list(APPEND options --cache-precision ${arg_CACHE_PRECISION})
    endif()
    if(arg_ACTIVATION_BITS EQUAL 7)
      list(APPEND options --activation-bits 7)
    endif()
    if(DEFINED arg_TOKENS)
      list(APPEND options --tokens ${arg_TOKENS})
    endif()
    if(DEFINED arg_BUDGET)
      list(APPEND options --budget ${arg_BUDGET})
    endif()
    foreach(kept IN LISTS arg_KEEP)
      list(APPEND options --keep ${kept})
    endforeach()
    list(TRANSFORM ladon_model_files PREPEND ${model_sources}/${NAME} OUTPUT_VARIABLE outputs)
    add_custom_command(OUTPUT ${outputs} COMMAND ${tool} ${arg_FOLDER} --c-sources ${model_sources} ${options}
      DEPENDS ${model_inputs} ${tool} VERBATIM COMMENT "Sources of the model ${NAME}")
  endif()
  set(c_header ${model_sources}/${NAME}.h)
  add_custom_target(${NAME}_header DEPENDS ${model_sources}/${NAME}.h ${model_sources}/${NAME}.hpp)
endmacro()

# Builds the library ladon::safetensors if Ladon's sources are there, and otherwise expects it.
function(ladon_model_need_safetensors)
  if(COMMAND ladon_need_safetensors)
    ladon_need_safetensors()
  endif()
  ladon_kernel_refuse("the weights of the model are read by ladon::safetensors, which is missing; write find_package(ladon \
CONFIG REQUIRED COMPONENTS kernel safetensors)" NOT TARGET ladon::safetensors)
endfunction()

# Sets `image` to the file of all weights.
macro(ladon_model_image)
  if(CMAKE_CXX_BYTE_ORDER STREQUAL "BIG_ENDIAN")
    message(FATAL_ERROR "ladon_add_model(${NAME}): the file of weights is little-endian, and this machine is big-endian")
  endif()
  set(image ${CMAKE_CURRENT_BINARY_DIR}/${NAME}.weights)
  if(DEFINED arg_IMAGE)
    set(image ${arg_IMAGE})
  elseif(CMAKE_CROSSCOMPILING AND needs_image)
    message(FATAL_ERROR "ladon_add_model(${NAME}): a cross build needs IMAGE, the file ${NAME}.weights of a build for this machine")
  elseif(needs_image)
    ladon_model_need_safetensors()
    add_executable(${NAME}_image EXCLUDE_FROM_ALL ${model_sources}/${NAME}_image.cpp ${model_sources}/${NAME}_weights.cpp)
    target_include_directories(${NAME}_image PRIVATE ${model_sources})
    target_link_libraries(${NAME}_image PRIVATE ladon::safetensors)
    target_compile_definitions(${NAME}_image PRIVATE LADON_ALLOW_UNOPTIMIZED)
    target_compile_options(${NAME}_image PRIVATE -O1) # it computes nothing
    set(checkpoint ${arg_FOLDER})
    if(model_is_onnx)
      set(checkpoint ${model_sources}/weights)
    endif()
    add_custom_command(OUTPUT ${image} COMMAND ${NAME}_image ${checkpoint} ${image}
      DEPENDS ${NAME}_image ${model_inputs} VERBATIM
      COMMENT "Weights of the model ${NAME}")
    add_custom_target(${NAME}_weights_file DEPENDS ${image})
  endif()
endmacro()

# Compiles the C functions for each instruction set, and the weights.
macro(ladon_model_objects)
  set(isas default)
  if(DEFINED arg_ARCH)
    set(isas ${arg_ARCH})
  endif()
  set(objects "")
  set(compiled "")
  set(code_targets "")
  if(arg_DISPATCH)
    string(REPLACE rotated_ "" precision ${arg_PRECISION})
    ladon_dispatched_isas(isas ${precision} true)
    ladon_kernel_refuse("DISPATCH is for x86-64, and for 64-bit Arm with Linux, with a GNU objcopy or MinGW"
      NOT (isas AND (objects_can_be_local OR MINGW)))
    set(variants "")
    foreach(isa IN LISTS isas)
      file(CONFIGURE OUTPUT ${folder}/${NAME}_${isa}.cpp CONTENT
        "#define LADON_MODEL_FUNCTION(name) ${NAME}_${isa}_##name\n#include \"${NAME}_c.cpp\"\n" @ONLY)
      ladon_model_object(${NAME}_${isa} ${isa})
      string(TOUPPER LADON_ISA_${isa} enumerator)
      string(APPEND variants " F(${enumerator}, ${NAME}_${isa}, __VA_ARGS__)")
    endforeach()
    list(GET isas 0 every_machine)
    ladon_kernel_put(model_dispatch.cpp ${folder}/${NAME}.cpp)
    ladon_model_object(${NAME} ${every_machine})
  else()
    file(CONFIGURE OUTPUT ${folder}/${NAME}.cpp CONTENT "#include \"${NAME}_c.cpp\"\n" @ONLY)
    ladon_model_object(${NAME} ${isas})
  endif()
  if(arg_WEIGHTS STREQUAL inside)
    ladon_kernel_assembler_string(data_string "${image}")
    ladon_kernel_put(model_weights.cpp ${folder}/${NAME}_stored.cpp)
    set_source_files_properties(${folder}/${NAME}_stored.cpp PROPERTIES OBJECT_DEPENDS "${image}")
    ladon_model_object(${NAME}_stored default)
  endif()
endmacro()

macro(ladon_model_object file arch)
  ladon_kernel_add_object(${file} ${arch})
  target_include_directories(${file}_code PRIVATE ${model_sources})
  if(arg_WEIGHTS STREQUAL inside)
    target_compile_definitions(${file}_code PRIVATE LADON_MODEL_HAS_WEIGHTS)
  endif()
endmacro()

# If CHECK is given, adds the program NAME_check_io, and the target NAME_checked, which runs the program and compares the
# results. The library depends on NAME_checked.
macro(ladon_model_check)
  if(DEFINED arg_CHECK)
    ladon_kernel_refuse("CHECK is ${arg_CHECK}, which does not exist" NOT EXISTS ${arg_CHECK})
    if(CMAKE_CROSSCOMPILING)
      find_program(LADON_IMPORT_TOOL ladon-import)
    endif()
    if(CMAKE_CROSSCOMPILING AND NOT (CMAKE_CROSSCOMPILING_EMULATOR AND LADON_IMPORT_TOOL AND NOT CMAKE_SYSTEM_NAME STREQUAL "Generic"))
      message(STATUS "ladon_add_model(${NAME}): CHECK does not run: it needs CMAKE_CROSSCOMPILING_EMULATOR, an operating \
system and the program ladon-import")
    else()
      ladon_model_check_program()
    endif()
  endif()
endmacro()

macro(ladon_model_check_program)
  ladon_model_tool(tool)
  ladon_model_need_safetensors()
  set(program ${NAME}_check_io)
  add_executable(${program} EXCLUDE_FROM_ALL ${model_sources}/${NAME}_check.cpp ${objects})
  target_include_directories(${program} PRIVATE ${model_sources})
  target_link_libraries(${program} PRIVATE ladon::safetensors)
  target_compile_definitions(${program} PRIVATE LADON_ALLOW_UNOPTIMIZED)
  set_target_properties(${program} PROPERTIES UNITY_BUILD OFF RUNTIME_OUTPUT_DIRECTORY ${folder})
  add_dependencies(${program} ${NAME}_header ${code_targets})
  set(environment "")
  if(arg_WEIGHTS STREQUAL mapped)
    set(environment LADON_WEIGHTS=${image})
  endif()
  add_custom_command(OUTPUT ${folder}/checked
    COMMAND ${CMAKE_COMMAND} -E env ${environment} ${CMAKE_CROSSCOMPILING_EMULATOR} $<TARGET_FILE:${program}> ${folder}
      --inputs ${arg_CHECK} --outputs ${folder}/results.safetensors
    COMMAND ${tool} --compare ${arg_CHECK} ${folder}/results.safetensors --precision ${arg_PRECISION}
    COMMAND ${CMAKE_COMMAND} -E touch ${folder}/checked
    DEPENDS ${program} ${image} ${arg_CHECK} ${tool} VERBATIM COMMENT "Checking the model ${NAME}")
  add_custom_target(${NAME}_checked DEPENDS ${folder}/checked)
  add_dependencies(${NAME} ${NAME}_checked)
endmacro()
