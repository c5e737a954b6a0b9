# SPDX-License-Identifier: Apache-2.0
# cmake [-DOUTPUT=<file>] -P amalgamate.cmake
#
# Writes all of include/ladon as one header (ladon.hpp, unless OUTPUT says otherwise), for those who can copy only one
# file. Standard headers stand once, at the top; each header of Ladon follows those it includes. What is included under
# an #if stays there, with all that it includes. The same sources give the same bytes.
cmake_minimum_required(VERSION 3.25)

cmake_path(GET CMAKE_CURRENT_LIST_DIR PARENT_PATH root)
include(${CMAKE_CURRENT_LIST_DIR}/version.cmake)
ladon_version(version)
if(NOT DEFINED OUTPUT)
  set(OUTPUT ladon.hpp)
endif()

# Kept in global properties, for functions have no others in common:
#   body      the text so far
#   standard  the standard headers
#   done      the headers of Ladon that stand in the body
#   within    those that stand there under an #if

# How many #if are open at the end of a text.
function(open_conditions out text)
  string(REGEX MATCHALL "\n[ \t]*#[ \t]*if" opened "\n${text}")
  string(REGEX MATCHALL "\n[ \t]*#[ \t]*endif" closed "\n${text}")
  list(LENGTH opened opened)
  list(LENGTH closed closed)
  math(EXPR count "${opened} - ${closed}")
  set(${out} ${count} PARENT_SCOPE)
endfunction()

# Appends a header of Ladon. CONDITION: of which header's #if it is part, or empty.
function(add_header name condition)
  get_property(done GLOBAL PROPERTY done)
  get_property(within GLOBAL PROPERTY within)
  if(name IN_LIST done)
    return()
  elseif(name IN_LIST within)
    message(FATAL_ERROR "${name} is included under an #if first, and later again: one copy cannot serve both")
  elseif(condition)
    set_property(GLOBAL APPEND PROPERTY within ${name})
  else()
    set_property(GLOBAL APPEND PROPERTY done ${name})
  endif()
  file(READ ${root}/include/${name} text)
  string(REPLACE "#pragma once\n" "" text "${text}")
  string(REPLACE "// SPDX-License-Identifier: Apache-2.0\n" "" text "${text}") # stands at the top, once
  add_text(${name} "${condition}" "${text}")
endfunction()

# Cuts a text at its first #include: what is before, that line, the file it names, what is after. Without one, all of it
# is before, and the file is empty.
function(split_at_include text)
  set(before "${text}")
  foreach(part IN ITEMS line file after)
    set(${part} "")
  endforeach()
  if(text MATCHES "\n[ \t]*#[ \t]*include[ \t]*[<\"]([^>\"\n]+)[>\"][^\n]*")
    set(line "${CMAKE_MATCH_0}")
    set(file "${CMAKE_MATCH_1}")
    string(FIND "${text}" "${line}" begin)
    string(LENGTH "${line}" length)
    math(EXPR end "${begin} + ${length}")
    string(SUBSTRING "${text}" 0 ${begin} before)
    string(SUBSTRING "${text}" ${end} -1 after)
  endif()
  return(PROPAGATE before line file after)
endfunction()

# Appends the text of a header, and what it includes: before it or, under an #if, in it.
function(add_text name condition text)
  set(own "") # what was read since the last header of Ladon under an #if
  set(open 0)
  split_at_include("\n${text}")
  while(file)
    open_conditions(more "${before}")
    math(EXPR open "${open} + ${more}")
    string(APPEND own "${before}")
    if(file MATCHES "^ladon/" AND open EQUAL 0)
      add_header(${file} "${condition}")
    elseif(file MATCHES "^ladon/")
      set_property(GLOBAL APPEND_STRING PROPERTY body "${own}")
      set(own "")
      add_header(${file} ${name})
    elseif(file MATCHES "^[a-z_]+$" AND open EQUAL 0 AND condition STREQUAL "")
      set_property(GLOBAL APPEND PROPERTY standard ${file})
    else()
      string(APPEND own "${line}")
    endif()
    split_at_include("${after}")
  endwhile()
  set_property(GLOBAL APPEND_STRING PROPERTY body "${own}${before}")
endfunction()

add_header(ladon/ladon.hpp "")
get_property(body GLOBAL PROPERTY body)
get_property(standard GLOBAL PROPERTY standard)
list(REMOVE_DUPLICATES standard)
list(SORT standard)
list(TRANSFORM standard REPLACE "(.+)" "#include <\\1>\n")
list(JOIN standard "" standard)
set(text "// Ladon ${version}: masked multi-head attention, every size a template argument (C++20).
// All headers in one file, made by cmake/amalgamate.cmake: changes belong into the headers.
// SPDX-License-Identifier: Apache-2.0 (https://www.apache.org/licenses/LICENSE-2.0)
#pragma once

${standard}
${body}")
string(REGEX REPLACE "\n\n\n+" "\n\n" text "${text}")
file(WRITE ${OUTPUT} "${text}")
