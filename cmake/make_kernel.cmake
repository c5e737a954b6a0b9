# SPDX-License-Identifier: Apache-2.0
# cmake [-DLADON_CPU=<core>] [-DTOOLCHAIN=<file>] [-DOUT=<folder>] -P make_kernel.cmake <name> QUERIES <n> MODEL <n> ...
#
# Makes lib<name>.a and <name>.h for a project that does not use CMake, and prints the bytes of code, stack and
# workspace. The words after the script are the arguments of ladon_add_kernel (ladon_add_kernel.cmake).
#
#   LADON_CPU            a core that the toolchain file arm-none-eabi.cmake or riscv32-unknown-elf.cmake supports. The
#                        toolchain file selects the compiler and its flags
#   TOOLCHAIN            the toolchain file of your vendor, instead of LADON_CPU
#   LADON_HOST_CXX       the compiler that builds the program ladon-weights, which the argument WEIGHTS needs
#   LADON_WEIGHTS_TOOL   the path of an installed ladon-weights, instead of LADON_HOST_CXX
#   OUT                  the folder for the two files; by default the current folder. OUT/build is the build folder
#
# Without LADON_CPU and TOOLCHAIN, the compiler of this machine makes the library.
cmake_minimum_required(VERSION 3.25)

# Sets `arguments` to the words after the script. Quotes each word, so that spaces stay in a word. A relative path after
# WEIGHTS or CHECK is relative to the current folder.
set(arguments "")
set(name "")
set(state before)
math(EXPR last "${CMAKE_ARGC} - 1")
foreach(i RANGE ${last})
  string(CONCAT word "${CMAKE_ARGV${i}}") # set() would read the word CACHE as its own
  if(state STREQUAL "before")
    if(word STREQUAL "-P")
      set(state script)
    endif()
  elseif(state STREQUAL "script")
    set(state words)
  elseif(word MATCHES "^-D.")
    message(FATAL_ERROR "make_kernel.cmake: ${word} stands behind -P, where CMake reads no settings; write cmake ${word} "
      "... -P make_kernel.cmake <name> QUERIES <n> ...")
  else()
    if(NOT name)
      set(name "${word}")
    endif()
    if(state STREQUAL "file")
      cmake_path(ABSOLUTE_PATH word BASE_DIRECTORY ${CMAKE_CURRENT_BINARY_DIR})
    endif()
    set(state words)
    if(word MATCHES "^(WEIGHTS|CHECK)$")
      set(state file)
    endif()
    string(APPEND arguments " [==[${word}]==]")
  endif()
endforeach()
if(NOT name)
  message(FATAL_ERROR "make_kernel.cmake: no name; allowed: -P make_kernel.cmake <name> QUERIES <n> MODEL <n> ...")
endif()

cmake_path(GET CMAKE_CURRENT_LIST_DIR PARENT_PATH ladon)
if(NOT OUT)
  set(OUT ${CMAKE_CURRENT_BINARY_DIR})
endif()
cmake_path(ABSOLUTE_PATH OUT BASE_DIRECTORY ${CMAKE_CURRENT_BINARY_DIR} NORMALIZE)
set(settings -DCMAKE_BUILD_TYPE=Release)
if(TOOLCHAIN)
  cmake_path(ABSOLUTE_PATH TOOLCHAIN BASE_DIRECTORY ${CMAKE_CURRENT_BINARY_DIR})
  list(APPEND settings -DCMAKE_TOOLCHAIN_FILE=${TOOLCHAIN})
elseif(LADON_CPU)
  set(toolchain arm-none-eabi)
  if(LADON_CPU MATCHES "^rv")
    set(toolchain riscv32-unknown-elf)
  endif()
  list(APPEND settings -DLADON_CPU=${LADON_CPU} -DCMAKE_TOOLCHAIN_FILE=${ladon}/cmake/${toolchain}.cmake)
endif()
foreach(setting LADON_HOST_CXX LADON_WEIGHTS_TOOL)
  if(${setting})
    list(APPEND settings -D${setting}=${${setting}})
  endif()
endforeach()

file(CONFIGURE OUTPUT ${OUT}/build/project/CMakeLists.txt @ONLY CONTENT [[
cmake_minimum_required(VERSION 3.25)
project(kernel LANGUAGES C CXX)
add_subdirectory(@ladon@ ladon EXCLUDE_FROM_ALL)
ladon_add_kernel(@arguments@)
ladon_report(@name@)
get_target_property(header @name@ LADON_HEADER)
add_custom_target(files ALL
  COMMAND ${CMAKE_COMMAND} -E copy_if_different $<TARGET_FILE:@name@> ${header} @OUT@ VERBATIM)
add_dependencies(files @name@)
]])
unset(ENV{CMAKE_CXX_COMPILER_LAUNCHER}) # ccache does not restore call graphs, so the report would have no stack
execute_process(COMMAND ${CMAKE_COMMAND} -S ${OUT}/build/project -B ${OUT}/build/${name} ${settings}
  OUTPUT_QUIET COMMAND_ERROR_IS_FATAL ANY)
execute_process(COMMAND ${CMAKE_COMMAND} --build ${OUT}/build/${name} --parallel --target files
  OUTPUT_QUIET COMMAND_ERROR_IS_FATAL ANY)
execute_process(COMMAND ${CMAKE_COMMAND} --build ${OUT}/build/${name} --target ${name}_report
  OUTPUT_QUIET COMMAND_ERROR_IS_FATAL ANY)
message("${OUT}/lib${name}.a and ${OUT}/${name}.h")
