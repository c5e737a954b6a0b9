# SPDX-License-Identifier: Apache-2.0
# Each function below adds a target of Ladon. A build calls only the functions of the targets that it uses, so it needs
# no dependencies of other targets.
#   ladon_need_files()          adds ladon_files, a library that reads and replaces files
#   ladon_need_safetensors()    adds ladon_safetensors, a library that reads safetensors files
#   ladon_need_weights_tool()   adds ladon_weights, the program ladon-weights, which packs tensors for a kernel
#   ladon_need_import_tool()    adds ladon_import, the program ladon-import, which writes C++ programs for models
#   ladon_need_tokenizer(<variable>)   adds ladon::tokenizer, a library that turns text into token ids, if LADON_TEXTS
#                                      is ON, or if it is AUTO and cargo can compile the library. Sets <variable> to
#                                      TRUE if the target exists, and else to FALSE
#   ladon_need_host_weights_tool()   in a cross build, adds ladon_host_weights: ladon-weights for the build machine.
#                                    Sets ladon_host_weights_program to the path of the program
#
# The setting LADON_HOST_CXX names the C++ compiler of the host, which ladon_need_host_weights_tool uses.

set(ladon_source_dir ${CMAKE_CURRENT_SOURCE_DIR} CACHE INTERNAL "")
set(ladon_binary_dir ${CMAKE_CURRENT_BINARY_DIR} CACHE INTERNAL "")

# Adds the target ladon_files, which ladon_safetensors and ladon_weights need. All three targets are compiled with the
# options of ladon_checks, which options.cmake defines.
function(ladon_need_files)
  if(NOT TARGET ladon_checks)
    include(${ladon_source_dir}/cmake/options.cmake)
  endif()
  if(NOT TARGET ladon_files)
    add_subdirectory(${ladon_source_dir}/src/files ${ladon_binary_dir}/src/files)
  endif()
endfunction()

function(ladon_need_safetensors)
  ladon_need_files()
  if(NOT TARGET ladon_safetensors)
    add_subdirectory(${ladon_source_dir}/src/safetensors ${ladon_binary_dir}/src/safetensors)
  endif()
endfunction()

function(ladon_need_weights_tool)
  if(NOT TARGET ladon_weights)
    add_subdirectory(${ladon_source_dir}/src/weights ${ladon_binary_dir}/src/weights)
  endif()
endfunction()

function(ladon_need_import_tool)
  if(NOT TARGET ladon_import)
    add_subdirectory(${ladon_source_dir}/src/onnx ${ladon_binary_dir}/src/onnx)
    add_subdirectory(${ladon_source_dir}/src/import ${ladon_binary_dir}/src/import)
  endif()
endfunction()

# ladon_find_cargo(<variable>): sets <variable> to the reason why cargo cannot compile src/tokenizer, or to an empty
# string. Sets LADON_CARGO.
function(ladon_find_cargo out)
  set(needed 1.85)
  find_program(LADON_CARGO cargo DOC "The program cargo, of version ${needed} or later")
  mark_as_advanced(LADON_CARGO)
  set(problem "")
  if(CMAKE_CROSSCOMPILING)
    set(problem "a cross build has no cargo")
  elseif(NOT LADON_CARGO)
    set(problem "there is no cargo")
  else()
    execute_process(COMMAND ${LADON_CARGO} --version OUTPUT_VARIABLE version ERROR_VARIABLE error RESULT_VARIABLE status)
    if(NOT status EQUAL 0 OR NOT version MATCHES "^cargo ([0-9.]+)")
      set(problem "${LADON_CARGO} --version fails: ${error}")
    elseif(CMAKE_MATCH_1 VERSION_LESS needed)
      set(problem "${LADON_CARGO} has version ${CMAKE_MATCH_1}, older than ${needed}")
    endif()
  endif()
  set(${out} "${problem}" PARENT_SCOPE)
endfunction()

function(ladon_need_tokenizer out)
  set(${out} FALSE PARENT_SCOPE)
  if(NOT LADON_TEXTS)
    return()
  endif()
  if(NOT TARGET ladon_tokenizer)
    ladon_find_cargo(problem)
    if(problem AND LADON_TEXTS STREQUAL "AUTO")
      message(STATUS "ladon: without ladon::tokenizer, because ${problem} (on Debian 12: cargo-web, on Debian 13: cargo)")
      return()
    elseif(problem)
      message(FATAL_ERROR "ladon: LADON_TEXTS is ${LADON_TEXTS}, but ${problem}. Install cargo 1.85 or later (on Debian \
12: cargo-web, on Debian 13: cargo), or set -DLADON_TEXTS=OFF")
    endif()
    ladon_need_files()
    add_subdirectory(${ladon_source_dir}/src/tokenizer ${ladon_binary_dir}/src/tokenizer)
  endif()
  set(${out} TRUE PARENT_SCOPE)
endfunction()

# ladon_host_compiler(<variable>): sets <variable> to the C++ compiler for programs that run on the host. The compiler
# is the setting LADON_HOST_CXX, or else the environment variable CXX, or else c++, g++ or clang++. Ignores CXX if CXX
# is the compiler of the cross build. Stops CMake if there is no compiler. On Windows, the value may be empty, because
# the generator then finds the compiler.
function(ladon_host_compiler out)
  set(compiler "${LADON_HOST_CXX}")
  if(NOT compiler)
    set(compiler "$ENV{CXX}")
    unset(program) # find_program keeps a value that a variable already has
    find_program(program NAMES "${compiler}" NO_CACHE NO_CMAKE_FIND_ROOT_PATH)
    if(program AND program STREQUAL CMAKE_CXX_COMPILER)
      set(compiler "")
    endif()
  endif()
  if(NOT compiler)
    unset(compiler)
    find_program(compiler NAMES c++ g++ clang++ NO_CACHE NO_CMAKE_FIND_ROOT_PATH)
  endif()
  if(NOT compiler AND NOT CMAKE_HOST_WIN32)
    message(FATAL_ERROR "ladon: WEIGHTS needs a C++ compiler for this machine, because a cross build makes the program \
ladon-weights for this machine. There is no c++, g++ or clang++. Install one of them, or name a compiler with \
-DLADON_HOST_CXX=<file>, or name a program ladon-weights with -DLADON_WEIGHTS_TOOL=<file>")
  endif()
  set(${out} "${compiler}" PARENT_SCOPE)
endfunction()

# Adds the target ladon_host_weights, which builds ladon-weights in a separate build. ladon-weights must run on the
# host, but the C++ compiler of a cross build compiles for the target machine. The separate build ignores environment
# variables such as CXXFLAGS, because they may have flags for the target machine. The separate build needs no xsimd. The
# target ladon_host_weights has no output files, so ninja and make start the separate build every time. The separate
# build then compiles only sources that have changed.
function(ladon_need_host_weights_tool)
  if(TARGET ladon_host_weights)
    return()
  endif()
  ladon_host_compiler(host_compiler)
  set(environment --unset=CMAKE_TOOLCHAIN_FILE --unset=CFLAGS --unset=CXXFLAGS --unset=CPPFLAGS --unset=LDFLAGS)
  if(host_compiler)
    list(APPEND environment "CXX=${host_compiler}")
  endif()
  set(folder ${ladon_binary_dir}/host_weights)
  set(program ${folder}/ladon-weights)
  if(CMAKE_HOST_WIN32)
    string(APPEND program .exe)
  endif()
  set(settings -DCMAKE_BUILD_TYPE=Release -DCMAKE_RUNTIME_OUTPUT_DIRECTORY=${folder}
    -DCMAKE_RUNTIME_OUTPUT_DIRECTORY_RELEASE=${folder} -DLADON_ARRAY_LANES=4 -DLADON_BUILD_WEIGHTS_TOOL=ON)
  # CMAKE_UNITY_BUILD and -O1 reduce the compile time of ladon-weights from 74 s to 34 s (one core of Zen 5). The
  # program runs only briefly, so -O1 costs less time than it saves.
  list(APPEND settings -DCMAKE_UNITY_BUILD=ON)
  if(NOT CMAKE_HOST_WIN32)
    list(APPEND settings "-DCMAKE_CXX_FLAGS_RELEASE=-O1 -DNDEBUG")
  endif()
  foreach(part BUILD_IMPORT_TOOL BUILD_TESTS BUILD_EXAMPLES BUILD_BENCH INSTALL)
    list(APPEND settings -DLADON_${part}=OFF)
  endforeach()
  foreach(variable CMAKE_MAKE_PROGRAM CMAKE_CXX_COMPILER_LAUNCHER FETCHCONTENT_SOURCE_DIR_CLI11 FETCHCONTENT_SOURCE_DIR_NLOHMANN_JSON
      LADON_CLI11_INCLUDE_DIR LADON_NLOHMANN_JSON_INCLUDE_DIR)
    if(${variable})
      list(APPEND settings -D${variable}=${${variable}})
    endif()
  endforeach()
  add_custom_command(OUTPUT ${folder}/CMakeCache.txt
    COMMAND ${CMAKE_COMMAND} -E env ${environment}
      ${CMAKE_COMMAND} -S ${ladon_source_dir} -B ${folder} -G ${CMAKE_GENERATOR} ${settings}
    COMMENT "Configuring ladon-weights for the machine that builds" VERBATIM)
  add_custom_target(ladon_host_weights
    COMMAND ${CMAKE_COMMAND} --build ${folder} --target ladon_weights --config Release
    DEPENDS ${folder}/CMakeCache.txt BYPRODUCTS ${program} VERBATIM
    COMMENT "Building ladon-weights for the machine that builds")
  set(ladon_host_weights_program ${program} CACHE INTERNAL "")
endfunction()
