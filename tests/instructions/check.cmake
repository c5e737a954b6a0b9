# cmake -DVALGRIND= -DPROGRAM= -DFUNCTION= -DEXPECTED= -DCOMPILER= -DCOMPILER_OF_EXPECTED= -P check.cmake
# Counts the instructions of FUNCTION and of the functions that it calls. The count may differ from EXPECTED by at most
# 2%.
cmake_minimum_required(VERSION 3.25)

execute_process(COMMAND ${VALGRIND} --tool=callgrind --callgrind-out-file=/dev/null --toggle-collect=${FUNCTION} ${PROGRAM}
  ERROR_VARIABLE said RESULT_VARIABLE status)
if(NOT status EQUAL 0 OR NOT said MATCHES "Collected : ([0-9]+)")
  message(FATAL_ERROR "${PROGRAM} under callgrind ended with ${status}:\n${said}")
endif()
set(counted ${CMAKE_MATCH_1})
message("${FUNCTION}: ${counted} instructions by ${COMPILER}, expected ${EXPECTED} by ${COMPILER_OF_EXPECTED}")

if(NOT COMPILER MATCHES "^${COMPILER_OF_EXPECTED}[.]")
  message("skipped: expectations are those of ${COMPILER_OF_EXPECTED}")
  return()
endif()
math(EXPR more "100 * (${counted} - ${EXPECTED})")
math(EXPR allowed "2 * ${EXPECTED}")
if(more GREATER allowed OR more LESS -${allowed})
  message(FATAL_ERROR "more than 2% from the expected count; tests/instructions/expected.cmake holds the counts")
endif()
