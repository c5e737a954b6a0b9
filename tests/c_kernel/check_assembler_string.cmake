# cmake -DMODULE=<ladon_add_kernel.cmake> -P check_assembler_string.cmake: checks that ladon_kernel_assembler_string
# escapes each quote and backslash of a path twice: for the assembler, and for C++.
cmake_minimum_required(VERSION 3.25)
include(${MODULE})
foreach(pair IN ITEMS [[/a b/$x/ü*.bin|/a b/$x/ü*.bin]] [[/a"b|/a\\\"b]] [[/a\b|/a\\\\b]])
  string(REGEX MATCH "^(.*)[|](.*)$" matched "${pair}")
  set(expected "${CMAKE_MATCH_2}")
  ladon_kernel_assembler_string(found "${CMAKE_MATCH_1}")
  if(NOT found STREQUAL expected)
    message(FATAL_ERROR "expected ${expected}, found ${found}")
  endif()
endforeach()
