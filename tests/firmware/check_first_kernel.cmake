# cmake -DROOT=<source folder> -DFOLDER=<folder> -P check_first_kernel.cmake
# Tests the first kernel of docs/microcontrollers.md: puts the two files of the page next to a copy of Ladon, and runs
# the commands of the page. The program and the report must print the text of the page. Counts and bytes depend on the
# compiler, so each number may differ by a fifth.
cmake_minimum_required(VERSION 3.25)
include(${CMAKE_CURRENT_LIST_DIR}/page_blocks.cmake)

next_block(lists "```cmake")
next_block(program "```c++")
next_block(commands "```sh")
next_block(expected "```text")

file(REMOVE_RECURSE ${FOLDER})
file(MAKE_DIRECTORY ${FOLDER})
file(CREATE_LINK ${ROOT} ${FOLDER}/ladon SYMBOLIC)
file(WRITE ${FOLDER}/CMakeLists.txt "${lists}")
file(WRITE ${FOLDER}/main.cpp "${program}")
unset(ENV{CMAKE_CXX_COMPILER_LAUNCHER}) # ccache does not restore call graphs, so the report would have no stack
execute_process(COMMAND sh -ec "${commands}" WORKING_DIRECTORY ${FOLDER} RESULT_VARIABLE status OUTPUT_VARIABLE out
  ERROR_VARIABLE err)
if(NOT status EQUAL 0)
  message(FATAL_ERROR "the commands of docs/microcontrollers.md end with ${status}:\n${out}${err}")
endif()
string(APPEND out "${err}") # CMake prints the report to stderr

string(REGEX MATCHALL "[^\n]+" lines "${expected}")
foreach(line IN LISTS lines)
  string(REGEX REPLACE " *[0-9]+" " +([0-9]+)" pattern "${line}")
  if(NOT out MATCHES "(^|\n)(${pattern})\n")
    message(FATAL_ERROR "no line looks like \"${line}\":\n${out}")
  endif()
  set(printed "${CMAKE_MATCH_2}")
  string(REGEX MATCHALL "[0-9]+" found "${printed}")
  string(REGEX MATCHALL "[0-9]+" wanted "${line}")
  foreach(number other IN ZIP_LISTS found wanted)
    math(EXPR least "${other} * 4 / 5")
    math(EXPR most "${other} * 6 / 5 + 4")
    if(number LESS least OR number GREATER most)
      message(FATAL_ERROR "docs/microcontrollers.md says \"${line}\", but the build says \"${printed}\"")
    endif()
  endforeach()
endforeach()
