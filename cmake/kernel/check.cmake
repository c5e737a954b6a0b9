# SPDX-License-Identifier: Apache-2.0
# Implements the arguments TENSORS and CHECK. TENSORS: the library has arrays of other tensors of the checkpoint. CHECK:
# a program runs the kernel on recorded inputs while the library is made.

# ladon_kernel_take(<file> <symbol> <path> <name>...): lets the program ladon-weights (`tool`, `tool_target`) write
# <path>.bin, <path>.inc and <path>.h, with the tensors <name>... of <file>, and writes <path>.cpp, which defines the
# arrays <symbol>_<tensor>. The file may consist of the files in `shards`.
function(ladon_kernel_take file taken_symbol path)
  add_custom_command(OUTPUT ${path}.bin ${path}.inc ${path}.h
    COMMAND ${tool} take ${file} ${ARGN} --symbol ${taken_symbol} --data ${path}.bin --list ${path}.inc
      --header ${path}.h
    DEPENDS ${file} ${shards} ${tool} ${tool_target} VERBATIM COMMENT "Tensors of ${taken_symbol}")
  cmake_path(GET file FILENAME taken_from)
  ladon_kernel_assembler_string(taken_data "${path}.bin")
  set(taken_list ${path}.inc)
  ladon_kernel_put(tensors.cpp ${path}.cpp)
  set_source_files_properties(${path}.cpp PROPERTIES OBJECT_DEPENDS "${path}.bin;${path}.inc")
endfunction()

# If TENSORS is given, takes the tensors. ladon_kernel_header writes their declarations into NAME.h, and
# ladon_kernel_tensors_object adds their object to the library.
macro(ladon_kernel_tensors)
  set(taken_header "")
  if(TENSORS_given)
    ladon_kernel_take(${checkpoint} ${NAME}_tensor ${folder}/${NAME}_taken ${arg_TENSORS})
    set(taken_header ${folder}/${NAME}_taken.h)
  endif()
endmacro()
macro(ladon_kernel_tensors_object)
  if(TENSORS_given)
    ladon_kernel_add_object(${NAME}_taken default)
  endif()
endmacro()

# If CHECK is given, adds the program NAME_check, and the target NAME_checked, which runs the program. The library
# depends on NAME_checked. A cross build without an emulator only adds the program. Without an operating system, NAME_check
# is a library with the function NAME_check of NAME_check.h, which the firmware calls.
macro(ladon_kernel_check)
  if(CHECK_given)
    ladon_kernel_check_program(${NAME}_check ${arg_CHECK})
    if(CMAKE_SYSTEM_NAME STREQUAL "Generic")
      message(STATUS "ladon_add_kernel(${NAME}): CHECK runs on the board: link ${NAME}_check, and call ${NAME}_check()")
    elseif(CMAKE_CROSSCOMPILING AND NOT CMAKE_CROSSCOMPILING_EMULATOR)
      message(STATUS "ladon_add_kernel(${NAME}): CHECK does not run: it needs CMAKE_CROSSCOMPILING_EMULATOR, or build the \
program ${NAME}_check, and run it on the machine")
    else()
      add_custom_command(OUTPUT ${folder}/checked COMMAND ${NAME}_check COMMAND ${CMAKE_COMMAND} -E touch ${folder}/checked
        DEPENDS ${NAME}_check VERBATIM COMMENT "Checking ${NAME} with ${CHECK_NAME}")
      add_custom_target(${NAME}_checked DEPENDS ${folder}/checked)
      add_dependencies(${NAME} ${NAME}_checked)
    endif()
  endif()
endmacro()

# ladon_kernel_check_program(<program> <sample>): adds a program, or without an operating system a library, that runs the
# kernel on the tensors of the safetensors file <sample> (src/c_kernel/check.cpp.in). Sets CHECK_NAME to the file's name.
macro(ladon_kernel_check_program program_name sample_file)
  set(PROGRAM ${program_name})
  set(sample ${sample_file})
  cmake_path(ABSOLUTE_PATH sample BASE_DIRECTORY ${CMAKE_CURRENT_SOURCE_DIR})
  cmake_path(GET sample FILENAME CHECK_NAME)
  get_source_file_property(made_by_the_build ${sample} GENERATED)
  ladon_kernel_refuse("CHECK is ${sample}, which does not exist" NOT EXISTS ${sample} AND NOT made_by_the_build)
  set(shards "")
  ladon_kernel_take(${sample} ${PROGRAM}_sample ${folder}/${PROGRAM}_sample *)
  set(other "")
  set(other_tokens 0)
  set(other_width 0)
  set(pass_other "")
  if(MEMORY_given OR CONTEXT_given)
    set(pass_other "other_x, ")
    set(other context)
    set(other_tokens ${NAMES}_KEYS)
    set(other_width ${NAMES}_KEY_MODEL)
    if(MEMORY_given)
      set(other memory)
      set(other_tokens ${NAMES}_MEMORY)
      set(other_width ${NAMES}_MODEL)
    endif()
  endif()
  set(tolerance "c_kernel::tolerance_of(\"${arg_PRECISION}\")")
  if(TOLERANCE_given)
    set(tolerance ${arg_TOLERANCE})
  endif()
  ladon_kernel_put(check.cpp ${folder}/${PROGRAM}.cpp)
  set_source_files_properties(${folder}/${PROGRAM}.cpp PROPERTIES OBJECT_DEPENDS
    "${folder}/${PROGRAM}_sample.inc;${folder}/${PROGRAM}_sample.h")
  set(check_sources ${folder}/${PROGRAM}.cpp ${folder}/${PROGRAM}_sample.cpp)
  if(CMAKE_SYSTEM_NAME STREQUAL "Generic")
    ladon_kernel_put(check.h ${folder}/${PROGRAM}.h)
    add_library(${PROGRAM} STATIC EXCLUDE_FROM_ALL ${check_sources})
    target_compile_definitions(${PROGRAM} PRIVATE LADON_CHECK_ON_BOARD)
    target_compile_options(${PROGRAM} PRIVATE -fno-exceptions -fno-asynchronous-unwind-tables)
    target_link_libraries(${PROGRAM} PUBLIC ${NAME})
  else()
    add_executable(${PROGRAM} EXCLUDE_FROM_ALL ${check_sources} ${objects})
  endif()
  target_include_directories(${PROGRAM} BEFORE PRIVATE ${sources} ${folder})
  target_compile_features(${PROGRAM} PRIVATE cxx_std_20)
  set_target_properties(${PROGRAM} PROPERTIES UNITY_BUILD OFF RUNTIME_OUTPUT_DIRECTORY ${folder})
  add_dependencies(${PROGRAM} ${NAME}_header ${code_targets})
endmacro()
