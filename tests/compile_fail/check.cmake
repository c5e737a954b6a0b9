# cmake -DCOMPILE=<compiler;flags> -DSOURCE=<file> -P check.cmake
# The file must not compile, and the compiler must say what the file's first line promises. Lines after the first one:
#
#   // says: TEXT      the compiler also says this text, for example numbers
#   // lines: COUNT    the compiler says at most so many lines
#   // flag: FLAG      another flag, behind those of COMPILE
file(STRINGS ${SOURCE} expected LIMIT_COUNT 1 REGEX "^// message: ")
string(REPLACE "// message: " "" expected "${expected}")
# A formatter may join lines, and a rule in the middle of a line would not be checked.
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
    message(FATAL_ERROR "the control does not compile:\n${said}")
  endif()
  return()
endif()
if(status EQUAL 0)
  message(FATAL_ERROR "it compiles, but must not: ${expected}")
endif()
file(STRINGS ${SOURCE} numbers REGEX "^// says: ")
list(TRANSFORM numbers REPLACE "^// says: " "")
foreach(text IN LISTS expected numbers)
  string(FIND "${said}" "${text}" position)
  if(position EQUAL -1)
    message(FATAL_ERROR "the compiler should have said \"${text}\", but it said:\n${said}")
  endif()
endforeach()
file(STRINGS ${SOURCE} most_lines REGEX "^// lines: ")
if(most_lines)
  string(REPLACE "// lines: " "" most_lines "${most_lines}")
  string(REGEX MATCHALL "\n" lines "${said}")
  list(LENGTH lines count)
  if(count GREATER most_lines)
    message(FATAL_ERROR "the compiler says ${count} lines, but should say at most ${most_lines}:\n${said}")
  endif()
endif()
