# SPDX-License-Identifier: Apache-2.0
# Runs PROGRAM, which import.cmake wrote into OUT, on the recorded inputs of FOLDER, and compares the last hidden state.
# Prints a line: NAME ok ERROR, NAME missing REASON, or NAME wrong REASON.
cmake_path(GET FOLDER FILENAME name)
if(EXISTS ${OUT}/missing.txt)
  file(STRINGS ${OUT}/missing.txt lines)
  list(GET lines 1 reason)
  execute_process(COMMAND ${CMAKE_COMMAND} -E echo "${name} missing ${reason}")
  return()
endif()
if(NOT EXISTS ${PROGRAM})
  execute_process(COMMAND ${CMAKE_COMMAND} -E echo "${name} wrong: the program does not compile")
  return()
endif()
execute_process(COMMAND ${PROGRAM} ${FOLDER} --inputs ${FOLDER}/io.safetensors --outputs ${OUT}/last.safetensors
                ERROR_VARIABLE reason RESULT_VARIABLE status ERROR_STRIP_TRAILING_WHITESPACE)
if(NOT status)
  execute_process(COMMAND ${TOOL} --compare ${FOLDER}/io.safetensors ${OUT}/last.safetensors OUTPUT_VARIABLE reason
                  ERROR_VARIABLE error RESULT_VARIABLE status OUTPUT_STRIP_TRAILING_WHITESPACE)
  string(APPEND reason "${error}")
endif()
string(REGEX REPLACE "\n *" " " reason "${reason}")
if(status)
  execute_process(COMMAND ${CMAKE_COMMAND} -E echo "${name} wrong ${reason}")
else()
  string(REGEX MATCH "[0-9.]+e[-+][0-9]+" error "${reason}")
  execute_process(COMMAND ${CMAKE_COMMAND} -E echo "${name} ok ${error}")
endif()
