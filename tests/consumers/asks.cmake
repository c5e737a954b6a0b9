# -DASKED=<what find_package is told, parted by spaces> -DSAYS=<regex> -DFOUND=<0 or 1> [-DMORE=<a setting>]
# A project asks for Ladon, finds it or not, and is told something.
include(${CMAKE_CURRENT_LIST_DIR}/run.cmake)
string(REPLACE " " ";" asked "${ASKED}")
execute_process(
  COMMAND ${CMAKE_COMMAND} -S ${CMAKE_CURRENT_LIST_DIR}/asks -B ${FOLDER} ${SETTINGS} ${MORE} "-DASKED=${asked}"
  RESULT_VARIABLE status OUTPUT_VARIABLE said ERROR_VARIABLE said)
if((FOUND AND NOT status EQUAL 0) OR (NOT FOUND AND status EQUAL 0))
  message(FATAL_ERROR "find_package(ladon ${ASKED}) ended with ${status}:\n${said}")
endif()
expect("${said}" "${SAYS}")
