# cmake -DPROGRAM=<date_reader> -DPAGE=<examples.md> -P check_demo.cmake
# Tests the output that docs/examples.md shows for ./dev demo "3rd of Feb, 2024". The output of PROGRAM must begin with the
# shown output. The page leaves out the lines with times, which differ from run to run.
cmake_minimum_required(VERSION 3.25)
file(READ ${PAGE} text)
if(NOT text MATCHES "\n```console\n[$] ./dev demo \"(3rd of Feb, 2024)\"\n([^`]*)```\n")
  message(FATAL_ERROR "${PAGE} does not show the output of the demo")
endif()
set(expected "${CMAKE_MATCH_2}")
execute_process(COMMAND ${PROGRAM} "${CMAKE_MATCH_1}" RESULT_VARIABLE status OUTPUT_VARIABLE out ERROR_VARIABLE err)
if(NOT status EQUAL 0)
  message(FATAL_ERROR "${PROGRAM} ended with ${status}:\n${out}${err}")
endif()
string(REGEX REPLACE " +\n" "\n" out "${out}")
string(REGEX REPLACE " +\n" "\n" expected "${expected}")
string(FIND "${out}" "${expected}" place)
if(NOT place EQUAL 0)
  message(FATAL_ERROR "the demo prints\n${out}but ${PAGE} says\n${expected}")
endif()
