# cmake -DCOMPILE=<compiler;flags> -DPAGE=<file> -DFOLDER=<folder> -P check.cmake
# Tests that each block of C++ in a page compiles without changes, after an #include of Ladon.
file(READ ${PAGE} text)
set(source ${FOLDER}/snippet.cpp)
# The loop takes one block at a time. A list of all blocks would be split at the semicolons of the code.
string(REGEX MATCH "```cpp\n([^`]+)```(.*)" found "${text}")
if(NOT found)
  message(FATAL_ERROR "${PAGE} shows no C++")
endif()
while(found)
  set(rest "${CMAKE_MATCH_2}")
  file(WRITE ${source} "#include <ladon/ladon.hpp>\n${CMAKE_MATCH_1}")
  execute_process(COMMAND ${COMPILE} ${source} RESULT_VARIABLE status ERROR_VARIABLE said)
  if(NOT status EQUAL 0)
    message(FATAL_ERROR "the C++ of ${PAGE} does not compile:\n${said}")
  endif()
  string(REGEX MATCH "```cpp\n([^`]+)```(.*)" found "${rest}")
endwhile()
