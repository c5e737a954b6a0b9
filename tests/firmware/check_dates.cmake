# cmake "-DRUN=<command>" -DJUDGE=<program> -DDATES=<file> -DCOUNT=<n> [-DPRECISION=int8] -P check_dates.cmake
# Runs the date reader on a board (RUN) for the first COUNT texts of DATES. The program JUDGE (judge.cpp) reads and
# checks the output of the date reader.
execute_process(COMMAND ${RUN} ${DATES} ${COUNT} exact COMMAND ${JUDGE} ${COUNT} ${PRECISION}
  OUTPUT_VARIABLE verdict RESULTS_VARIABLE statuses COMMAND_ECHO STDOUT)
message(STATUS "${verdict}")
if(NOT statuses STREQUAL "0;0")
  message(FATAL_ERROR "firmware and judge ended with ${statuses}")
endif()
