# cmake -DBUILD=<folder> -DKERNEL=<name> -DMOST=<bytes> -P check_code_size.cmake
# Checks that the target <name>_report prints the bytes of code, constants and stack of a run, and that the code takes at
# most MOST bytes.
execute_process(COMMAND ${CMAKE_COMMAND} --build ${BUILD} --target ${KERNEL}_report
  OUTPUT_VARIABLE out ERROR_VARIABLE out RESULT_VARIABLE status)
if(NOT status EQUAL 0 OR NOT out MATCHES "${KERNEL}_run +([0-9]+) +([0-9]+) +([0-9]+)\n")
  message(FATAL_ERROR "no report of ${KERNEL}, with numbers:\n${out}")
endif()
message(STATUS
  "${KERNEL}_run: ${CMAKE_MATCH_1} bytes of code, ${CMAKE_MATCH_2} of constants, ${CMAKE_MATCH_3} of stack")
if(CMAKE_MATCH_1 GREATER MOST)
  message(FATAL_ERROR "${KERNEL}_run takes ${CMAKE_MATCH_1} bytes of code; allowed: ${MOST}")
endif()
