# SPDX-License-Identifier: Apache-2.0
# Writes the header OUT: what `TOOL describe FOLDER` prints, and the list of its stacks; or the reason why Ladon lacks the
# model. Leaves an equal header unchanged, so that nothing is compiled again.
execute_process(COMMAND ${TOOL} describe ${FOLDER} --tokens 32 OUTPUT_VARIABLE text ERROR_VARIABLE reason RESULT_VARIABLE status
                OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_STRIP_TRAILING_WHITESPACE)
if(status)
  string(REGEX REPLACE "[\\\"]" "\\\\\\0" reason "${reason}${text}")
  string(REGEX REPLACE "\n *" " " reason "${reason}")
  set(text "#define LADON_MISSING \"${reason}\"")
else()
  string(REGEX MATCHALL "\nnamespace [a-z]+" stacks "${text}")
  list(TRANSFORM stacks REPLACE "\nnamespace (.*)" " check(\\1)")
  string(APPEND text "\n#define LADON_STACKS(check)" ${stacks})
endif()
set(old "")
if(EXISTS ${OUT})
  file(READ ${OUT} old)
endif()
if(NOT old STREQUAL "${text}\n")
  file(WRITE ${OUT} "${text}\n")
endif()
