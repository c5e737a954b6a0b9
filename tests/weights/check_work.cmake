# cmake -DVALGRIND=<valgrind> -DPROGRAM=<work> -DTASK=<task> -P check_work.cmake
# Counts the instructions of a task for a file of 500 tensors and for a file of 2000 tensors. A quadratic loop would
# take up to 16 times as many instructions for the larger file.
cmake_minimum_required(VERSION 3.25)
foreach(count 500 2000)
  execute_process(
    COMMAND ${VALGRIND} --tool=callgrind --callgrind-out-file=/dev/null --toggle-collect=measured ${PROGRAM} ${TASK} ${count}
    ERROR_VARIABLE said RESULT_VARIABLE status)
  if(NOT status EQUAL 0 OR NOT said MATCHES "Collected : ([0-9]+)" OR CMAKE_MATCH_1 LESS 100000)
    message(FATAL_ERROR "${PROGRAM} under callgrind ended with ${status}:\n${said}")
  endif()
  set(counted_${count} ${CMAKE_MATCH_1})
endforeach()
message("${TASK}: ${counted_500} instructions for 500 tensors, ${counted_2000} for 2000")
math(EXPR most "5 * ${counted_500}")
if(counted_2000 GREATER most)
  message(FATAL_ERROR "four times as many tensors may take at most five times as many instructions")
endif()
