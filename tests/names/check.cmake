# cmake -DCOMPILE=<compiler;flags> -P check.cmake
# Tests that code compiled with different flags has different symbol names. The name of the inline namespace LADON_ABI
# must be different for each entry of `flags`. An entry selects an instruction set, defines macros of Ladon, or does
# both.
cmake_minimum_required(VERSION 3.25)
set(flags
  -march=x86-64 -msse3 -mssse3 -msse4.1 -march=x86-64-v2 -mavx "-mavx -mfma" -mavx2 "-mavx2 -mfma" -mavx512f
  "-mavx512f -mavx512cd -mavx512dq -mavx512bw"
  "-mavx2 -mfma -mavxvnni" -march=x86-64-v4 "-march=x86-64-v4 -mavx512vnni" "-march=x86-64-v4 -mavx512bf16" "-march=x86-64-v4 -mavx512vnni -mavx512bf16" -DLADON_ARRAY_LANES=1 -DLADON_ARRAY_LANES=16 -DLADON_CHECKED=1 -DLADON_DETERMINISTIC=1 -DLADON_KEY_BLOCK=64
  -DLADON_CONSTANT_EVALUATION=0 "-march=x86-64-v4 -DLADON_CONSTANT_EVALUATION=0"
  "-DLADON_CHECKED=1 -DLADON_ARRAY_LANES=1" "-march=x86-64-v4 -DLADON_CHECKED=1"
  "-march=x86-64-v4 -DLADON_DETERMINISTIC=1" "-march=x86-64-v4 -DLADON_CHECKED=1 -DLADON_DETERMINISTIC=1")
set(names "")
foreach(choice IN LISTS flags)
  separate_arguments(choice)
  execute_process(COMMAND ${COMPILE} -DNDEBUG ${choice} -E -P -xc++ ${CMAKE_CURRENT_LIST_DIR}/name.in
    RESULT_VARIABLE status OUTPUT_VARIABLE out ERROR_VARIABLE err)
  if(NOT status EQUAL 0 OR NOT out MATCHES "the name is ([a-z0-9_]+)\n")
    message(FATAL_ERROR "${choice}: no name in\n${out}${err}")
  endif()
  message("${CMAKE_MATCH_1}: ${choice}")
  if(CMAKE_MATCH_1 IN_LIST names)
    message(FATAL_ERROR "${choice} shares the name ${CMAKE_MATCH_1} with earlier flags")
  endif()
  list(APPEND names ${CMAKE_MATCH_1})
endforeach()
