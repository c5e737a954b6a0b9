# cmake -DVALGRIND=<valgrind> -DPROGRAM=<work> -DTASK=<task> -P check_work.cmake
# Counts the instructions of a task for a file of 1000 tensors and for a file of 4000 tensors. A quadratic loop would
# take up to 16 times as many instructions for the larger file.
cmake_minimum_required(VERSION 3.25)
foreach(count 1000 4000)
  execute_process(
    COMMAND ${VALGRIND} --tool=callgrind --callgrind-out-file=/dev/null --toggle-collect=measured ${PROGRAM} ${TASK} ${count}
    ERROR_VARIABLE said RESULT_VARIABLE status)
  if(NOT status EQUAL 0 OR NOT said MATCHES "Collected : ([0-9]+)" OR CMAKE_MATCH_1 LESS 100000)
    message(FATAL_ERROR "${PROGRAM} under callgrind ended with ${status}:\n${said}")
  endif()
  set(counted_${count} ${CMAKE_MATCH_1})
endforeach()
message("${TASK}: ${counted_1000} instructions for 1000 tensors, ${counted_4000} for 4000")
math(EXPR most "5 * ${counted_1000}")
if(counted_4000 GREATER most)
  message(FATAL_ERROR "four times as many tensors may take at most five times as many instructions")
endif()
