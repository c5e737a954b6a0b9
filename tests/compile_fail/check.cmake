# cmake -DCOMPILE=<compiler;flags> -DSOURCE=<file> -P check.cmake
# Compiles SOURCE. SOURCE must not compile, unless its first line begins with "// compiles: " (control.cpp). Other lines
# of SOURCE are rules:
#   // must print: TEXT     the compiler must print TEXT
#   // most lines: COUNT    the compiler must print at most COUNT lines
#   // later error: REASON  the first text need not be in the first error, for this reason
#   // flag: FLAG           a flag for the compiler, after the flags in COMPILE
cmake_minimum_required(VERSION 3.25)
file(STRINGS ${SOURCE} first LIMIT_COUNT 1)
# The first text must be in the line of the first error, near its beginning: behind at most 250 characters. Names of
# types may have thousands of characters, and must not stand before the reason.
# This script reads a rule only at the beginning of a line. If a formatter has joined two rules into one line, the
# script would miss the second rule. So the script reports such a line as an error.
file(STRINGS ${SOURCE} joined REGEX "^//.+ (must print|most lines|later error|flag): ")
if(joined)
  message(FATAL_ERROR "a rule must begin its line: ${joined}")
endif()
file(STRINGS ${SOURCE} texts REGEX "^// must print: ")
list(TRANSFORM texts REPLACE "^// must print: " "")
file(STRINGS ${SOURCE} flags REGEX "^// flag: ")
list(TRANSFORM flags REPLACE "^// flag: " "")
execute_process(COMMAND ${COMPILE} ${flags} ${SOURCE} RESULT_VARIABLE status OUTPUT_VARIABLE out ERROR_VARIABLE err)
set(said "${out}${err}")

if(first MATCHES "^// compiles: ")
  if(NOT status EQUAL 0)
    message(FATAL_ERROR "the file does not compile:\n${said}")
  endif()
  return()
endif()
if(NOT texts)
  message(FATAL_ERROR "the file has no line \"// must print: TEXT\"")
endif()
if(status EQUAL 0)
  message(FATAL_ERROR "the file compiles, but must not: ${texts}")
endif()
foreach(text IN LISTS texts)
  string(FIND "${said}" "${text}" position)
  if(position EQUAL -1)
    message(FATAL_ERROR "the compiler should print \"${text}\", but prints:\n${said}")
  endif()
endforeach()
file(STRINGS ${SOURCE} later REGEX "^// later error: ")
if(NOT later)
  list(GET texts 0 text)
  string(REGEX MATCH "error: [^\n]*" error "${said}")
  string(FIND "${error}" "${text}" position)
  if(position EQUAL -1 OR position GREATER 250)
    message(FATAL_ERROR "\"${text}\" should be at the beginning of the first error, but is at ${position}:\n${said}")
  endif()
endif()
file(STRINGS ${SOURCE} most_lines REGEX "^// most lines: ")
if(most_lines)
  string(REPLACE "// most lines: " "" most_lines "${most_lines}")
  string(REGEX MATCHALL "\n" lines "${said}")
  list(LENGTH lines count)
  if(count GREATER most_lines)
    message(FATAL_ERROR "the compiler prints ${count} lines, but should print at most ${most_lines}:\n${said}")
  endif()
endif()
