# SPDX-License-Identifier: Apache-2.0
# cmake -DOBJECTS=<files> -DTEMPLATE=<file> -DOUTPUT=<file> [-DBLOCKS=<names> -DPATH=<path>] [-DTAKEN=<file>]
#   -P put_description.cmake
# Reads the description of a kernel (src/c_kernel/describe.hpp) from each of the OBJECTS. Fills TEMPLATE with the
# description, and writes the result to OUTPUT. Writes each part of the description that BLOCKS names to
# <path><block>.inc. Each of the OBJECTS is compiled for another instruction set, so the descriptions may differ in the
# sizes of the workspace and of the caches, but in nothing else. OUTPUT gets the largest size of all OBJECTS. TAKEN has
# the declarations of the argument TENSORS.
cmake_minimum_required(VERSION 3.25)
set(sizes workspace shared scratch cache memory_cache)
foreach(size IN LISTS sizes)
  set(${size}_bytes 0)
endforeach()
foreach(object IN LISTS OBJECTS)
  file(STRINGS ${object} text NEWLINE_CONSUME REGEX "LADON_DESCRIPTION")
  string(REPLACE "\\;" ";" text "${text}") # file(STRINGS) escapes semicolons
  if(NOT text MATCHES "LADON_DESCRIPTION([^\n]+)\n(.*)LADON_END")
    message(FATAL_ERROR "${object} does not contain the description of a kernel")
  endif()
  set(line "${CMAKE_MATCH_1}")
  if(DEFINED rest AND NOT rest STREQUAL CMAKE_MATCH_2)
    message(FATAL_ERROR "${object} describes another kernel than the previous objects")
  endif()
  set(rest "${CMAKE_MATCH_2}")
  foreach(size IN LISTS sizes)
    string(REGEX MATCH " ${size}=([0-9]+)" found "${line}")
    if(CMAKE_MATCH_1 GREATER ${size}_bytes)
      set(${size}_bytes ${CMAKE_MATCH_1})
    endif()
  endforeach()
endforeach()

while(rest MATCHES "^LADON_BLOCK ([a-z]+)\n")
  set(block ${CMAKE_MATCH_1})
  string(LENGTH "${CMAKE_MATCH_0}" begin)
  string(SUBSTRING "${rest}" ${begin} -1 rest)
  string(FIND "${rest}LADON_BLOCK" "LADON_BLOCK" length)
  string(SUBSTRING "${rest}" 0 ${length} ${block})
  string(SUBSTRING "${rest}" ${length} -1 rest)
  if(${block} MATCHES "^(.*)LADON_REPEAT ([0-9]+)\n(.*)LADON_REPEATED\n(.*)$") # repeats the text for each layer
    set(${block} "${CMAKE_MATCH_1}")
    math(EXPR last "${CMAKE_MATCH_2} - 1")
    foreach(layer RANGE ${last})
      string(CONFIGURE "${CMAKE_MATCH_3}" text @ONLY)
      string(APPEND ${block} "${text}")
    endforeach()
    string(APPEND ${block} "${CMAKE_MATCH_4}")
  endif()
  string(CONFIGURE "${${block}}" ${block} @ONLY) # replaces the placeholders of the sizes
  if(block IN_LIST BLOCKS)
    file(CONFIGURE OUTPUT ${PATH}${block}.inc CONTENT "${${block}}" @ONLY)
  endif()
endwhile()
set(taken "")
if(TAKEN)
  file(READ ${TAKEN} taken)
  set(taken "\n/* Tensors of the checkpoint outside the weights above. */\n${taken}")
endif()
configure_file(${TEMPLATE} ${OUTPUT} @ONLY)
