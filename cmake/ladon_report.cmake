# SPDX-License-Identifier: Apache-2.0
# ladon_report(<kernel>...): adds a target <kernel>_report for each kernel. The target prints the bytes of the kernel's
# workspace, and a table of the kernel's functions. For each function, the table has the bytes of code and of constants
# that the linker keeps if a program uses only this function. The table also has the bytes of the largest stack that a
# call takes.
#
# Needs GNU binutils. The bytes of stack come from call graphs, which only GCC writes. Without call graphs, the report
# has a dash instead.
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
