# cmake -DCOMPILE=<compiler;flags> -DSOURCE=<file> -P check.cmake
# SOURCE must not compile, and the compiler must print the message in the first line of SOURCE. If this message begins
# with "none", SOURCE must compile (control.cpp). Further lines may follow:
#
#   // says: TEXT      the compiler must also print this text, for example numbers
#   // lines: COUNT    the compiler must print at most COUNT lines
#   // flag: FLAG      a flag for the compiler, after the flags in COMPILE
file(STRINGS ${SOURCE} expected LIMIT_COUNT 1 REGEX "^// message: ")
string(REPLACE "// message: " "" expected "${expected}")
# A formatter may join comment lines. This script reads a rule only at the beginning of a line, so it rejects a rule in
# the middle of a line.
file(STRINGS ${SOURCE} joined REGEX "^//.+ (says|lines|flag): ")
if(joined)
  message(FATAL_ERROR "a rule must begin its line: ${joined}")
endif()
file(STRINGS ${SOURCE} flags REGEX "^// flag: ")
list(TRANSFORM flags REPLACE "^// flag: " "")
execute_process(COMMAND ${COMPILE} ${flags} ${SOURCE} RESULT_VARIABLE status OUTPUT_VARIABLE out ERROR_VARIABLE err)
set(said "${out}${err}")

if(expected MATCHES "^none")
  if(NOT status EQUAL 0)
    message(FATAL_ERROR "control.cpp does not compile:\n${said}")
  endif()
  return()
endif()
if(status EQUAL 0)
  message(FATAL_ERROR "the file compiles, but must not: ${expected}")
endif()
file(STRINGS ${SOURCE} numbers REGEX "^// says: ")
list(TRANSFORM numbers REPLACE "^// says: " "")
foreach(text IN LISTS expected numbers)
  string(FIND "${said}" "${text}" position)
  if(position EQUAL -1)
    message(FATAL_ERROR "the compiler should print \"${text}\", but prints:\n${said}")
  endif()
endforeach()
file(STRINGS ${SOURCE} most_lines REGEX "^// lines: ")
if(most_lines)
  string(REPLACE "// lines: " "" most_lines "${most_lines}")
  string(REGEX MATCHALL "\n" lines "${said}")
  list(LENGTH lines count)
  if(count GREATER most_lines)
    message(FATAL_ERROR "the compiler prints ${count} lines, but should print at most ${most_lines}:\n${said}")
  endif()
endif()
