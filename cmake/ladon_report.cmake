# SPDX-License-Identifier: Apache-2.0
# ladon_report(<kernel>...): adds a target <kernel>_report, which prints the memory of each function of a kernel. The
# report has the bytes of code and constants that a program links for one function alone, the largest stack in bytes,
# and the workspace.
#
# Needs GNU binutils. The stack also needs GCC, which writes call graphs. An unknown number is printed as a dash.
include_guard(GLOBAL)
cmake_policy(VERSION 3.25)

function(ladon_report)
  foreach(kernel IN LISTS ARGN)
    get_target_property(objects ${kernel} LADON_OBJECTS)
    get_target_property(header ${kernel} LADON_HEADER)
    get_target_property(compiled ${kernel} LADON_COMPILED)
    get_target_property(link_flags ${kernel} LADON_LINK_FLAGS)
    if(NOT compiled)
      message(FATAL_ERROR "ladon_report: ${kernel} was not made by ladon_add_kernel with a GNU objcopy")
    endif()
    string(REGEX REPLACE "objcopy([^/]*)$" "size\\1" size_tool "${CMAKE_OBJCOPY}")
    add_custom_target(${kernel}_report
      COMMAND ${CMAKE_COMMAND} -DNAME=${kernel} "-DOBJECTS=${objects}" -DHEADER=${header} "-DCOMPILED=${compiled}"
        "-DLINK=${CMAKE_CXX_COMPILER};${link_flags}" -DSIZE=${size_tool} -P ${CMAKE_CURRENT_FUNCTION_LIST_DIR}/report.cmake
      DEPENDS ${kernel} VERBATIM)
  endforeach()
endfunction()
