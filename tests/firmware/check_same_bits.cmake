# cmake "-DRUN=<command>" -DHOST=<program> -P check_same_bits.cmake
# Checks that RUN (on a board) and HOST (on this machine) print equal hashes.
execute_process(COMMAND ${RUN} OUTPUT_VARIABLE board RESULT_VARIABLE status)
execute_process(COMMAND ${HOST} OUTPUT_VARIABLE host RESULT_VARIABLE host_status)
if(NOT status EQUAL 0 OR NOT host_status EQUAL 0 OR NOT board STREQUAL host OR NOT board MATCHES "encoder.*attention.*int8.*int8 layer.*int4")
  message(FATAL_ERROR "the board (${status}):\n${board}and the host (${host_status}):\n${host}")
endif()
message(STATUS "${board}")
