# SPDX-License-Identifier: Apache-2.0
# cmake [-DOUTPUT=<file>] -P amalgamate.cmake
#
# Joins all headers of include/ladon into one header (OUTPUT, by default ladon.hpp), for projects that copy a single
# file. The output includes each standard header once, at the top. Each header of Ladon comes after the headers that it
# includes. A header that Ladon includes under an #if stays under the #if, together with all headers that this header
# includes. The output depends only on the sources, so two runs write the same bytes.
cmake_minimum_required(VERSION 3.25)

cmake_path(GET CMAKE_CURRENT_LIST_DIR PARENT_PATH root)
include(${CMAKE_CURRENT_LIST_DIR}/version.cmake)
ladon_version(version)
if(NOT DEFINED OUTPUT)
  set(OUTPUT ladon.hpp)
endif()

# The functions below share their state in global properties, because each CMake function has its own scope of
# variables:
#   body      the text of the output so far, without the #include lines of standard headers
#   standard  the standard headers that the output includes at its top
#   done      the headers of Ladon whose text is in `body` outside of any #if
#   within    the headers of Ladon whose text is in `body` only under an #if

# open_conditions(<out> <text>): sets <out> to the number of #if in <text> minus the number of #endif in <text>.
function(open_conditions out text)
  string(REGEX MATCHALL "\n[ \t]*#[ \t]*if" opened "\n${text}")
  string(REGEX MATCHALL "\n[ \t]*#[ \t]*endif" closed "\n${text}")
  list(LENGTH opened opened)
  list(LENGTH closed closed)
  math(EXPR count "${opened} - ${closed}")
  set(${out} ${count} PARENT_SCOPE)
endfunction()

# add_header(<name> <condition>): appends the header <name> of Ladon to `body`, unless `body` already contains this
# header. <condition> names the header that includes <name> under an #if. If no header includes <name> under an #if,
# <condition> is empty.
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

# split_at_include(<text>): splits <text> at its first #include. Sets `before` to the text before the #include, `line`
# to the line of the #include, `file` to the name of the included file, and `after` to the text after the line. If
# <text> has no #include, `before` is the whole text, and `file` is empty.
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

# add_text(<name> <condition> <text>): appends the header <name>, whose content is <text>, to `body`. Also appends each
# header of Ladon that <text> includes, unless `body` already contains the included header. A header that is included
# under an #if takes the place of its #include. Every other included header comes before <text>.
function(add_text name condition text)
  set(own "") # the text since the last header of Ladon under an #if
  set(open 0)
  split_at_include("\n${text}")
  while(file)
    open_conditions(more "${before}")
    math(EXPR open "${open} + ${more}")
    string(APPEND own "${before}")
    if(file MATCHES "/quiet_(begin|end)") # surrounds the whole output instead
    elseif(file MATCHES "^ladon/" AND open EQUAL 0)
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
foreach(side begin end)
  file(STRINGS ${root}/include/ladon/detail/config/quiet_${side}.hpp ${side} REGEX "^#")
  list(JOIN ${side} "\n" ${side})
endforeach()
set(text "// Ladon ${version}: masked multi-head attention, every size a template argument (C++20).
// All headers in one file, made by cmake/amalgamate.cmake. Do not edit this file: edit the headers.
// SPDX-License-Identifier: Apache-2.0 (https://www.apache.org/licenses/LICENSE-2.0)
#pragma once

${standard}
${begin}
${body}
${end}
")
string(REGEX REPLACE "\n\n\n+" "\n\n" text "${text}")
file(WRITE ${OUTPUT} "${text}")
