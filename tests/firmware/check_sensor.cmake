# cmake "-DRUN=<command>" -DSENSOR=<folder> -P check_sensor.cmake
# Runs the classifier of SENSOR on a board (RUN) for its 100 samples. The classes must be those of PyTorch.
execute_process(COMMAND ${RUN} ${SENSOR}/samples.bin OUTPUT_VARIABLE found COMMAND_ECHO STDOUT COMMAND_ERROR_IS_FATAL ANY)
file(STRINGS ${SENSOR}/answers.txt expected)
string(REGEX MATCHALL "[0-9]+" found "${found}")
list(LENGTH expected count)
if(NOT count EQUAL 100)
  message(FATAL_ERROR "${SENSOR}/answers.txt has ${count} answers")
endif()
if(NOT found STREQUAL expected)
  message(FATAL_ERROR "expected ${expected}\nfound    ${found}")
endif()
message(STATUS "${count} of ${count} answers are equal")
