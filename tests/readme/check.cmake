# cmake -DCOMPILE=<compiler;flags> -DREADME=<file> -P check.cmake
# The README's C++ must compile as it stands there.
file(READ ${README} text)
string(REGEX MATCH "```cpp\n([^`]+)```" found "${text}")
if(NOT found)
  message(FATAL_ERROR "${README} shows no C++")
endif()
file(WRITE ${CMAKE_CURRENT_BINARY_DIR}/readme_snippet.cpp "${CMAKE_MATCH_1}")
execute_process(COMMAND ${COMPILE} ${CMAKE_CURRENT_BINARY_DIR}/readme_snippet.cpp
  RESULT_VARIABLE status ERROR_VARIABLE said)
if(NOT status EQUAL 0)
  message(FATAL_ERROR "the README's C++ does not compile:\n${said}")
endif()
