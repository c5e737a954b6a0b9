# -DASKED=<arguments of find_package, separated by spaces> -DSAYS=<regex> -DFOUND=<0 or 1> [-DMORE=<a setting>]
# Configures a project that calls find_package for Ladon with the arguments ASKED. The call must find Ladon if FOUND is
# 1, and fail if FOUND is 0. The output of CMake must match the regular expression SAYS.
include(${CMAKE_CURRENT_LIST_DIR}/run.cmake)
string(REPLACE " " ";" asked "${ASKED}")
execute_process(
  COMMAND ${CMAKE_COMMAND} -S ${CMAKE_CURRENT_LIST_DIR}/asks -B ${FOLDER} ${SETTINGS} ${MORE} "-DASKED=${asked}"
  RESULT_VARIABLE status OUTPUT_VARIABLE said ERROR_VARIABLE said)
if((FOUND AND NOT status EQUAL 0) OR (NOT FOUND AND status EQUAL 0))
  message(FATAL_ERROR "find_package(ladon ${ASKED}) ended with ${status}:\n${said}")
endif()
expect("${said}" "${SAYS}")
