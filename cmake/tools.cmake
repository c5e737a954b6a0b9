# SPDX-License-Identifier: Apache-2.0
# Functions that add parts of Ladon on demand. A build that does not call the function of a part does not need the
# dependencies of the part.
#
#   ladon_need_files()          ladon_files: reads and replaces files
#   ladon_need_safetensors()    ladon_safetensors: reads safetensors files
#   ladon_need_weights_tool()   ladon_weights: the program ladon-weights, which packs tensors for a kernel
#   ladon_need_host_weights_tool()   ladon_host_weights: in a cross build, ladon-weights for the build machine. Sets
#                                    ladon_host_weights_program to the path of the program

set(ladon_source_dir ${CMAKE_CURRENT_SOURCE_DIR} CACHE INTERNAL "")
set(ladon_binary_dir ${CMAKE_CURRENT_BINARY_DIR} CACHE INTERNAL "")

# Adds the target ladon_files. ladon_safetensors and ladon_weights need this target. All three targets are compiled with
# ladon_checks, which options.cmake defines.
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

# Adds ladon_host_weights, a separate build of ladon-weights. The separate build is needed, because ladon-weights must
# run on the host, and the C++ compiler of a cross build compiles for the target machine. The separate build uses the
# compiler that the environment variable CXX names, or else the system's compiler. ladon-weights needs no xsimd. The
# target ladon_host_weights has no outputs, so ninja and make always run its command. The separate build then compiles
# only sources that have changed.
function(ladon_need_host_weights_tool)
  if(TARGET ladon_host_weights)
    return()
  endif()
  set(folder ${ladon_binary_dir}/host_weights)
  set(program ${folder}/ladon-weights)
  if(CMAKE_HOST_WIN32)
    string(APPEND program .exe)
  endif()
  set(settings -DCMAKE_BUILD_TYPE=Release -DCMAKE_RUNTIME_OUTPUT_DIRECTORY=${folder}
    -DCMAKE_RUNTIME_OUTPUT_DIRECTORY_RELEASE=${folder} -DLADON_ARRAY_LANES=4 -DLADON_BUILD_WEIGHTS_TOOL=ON)
  # The settings CMAKE_UNITY_BUILD and -O1 reduce the compile time of ladon-weights from 74 s to 34 s (one core of
  # Zen 5). ladon-weights runs only briefly, so its own speed matters less.
  list(APPEND settings -DCMAKE_UNITY_BUILD=ON)
  if(NOT CMAKE_HOST_WIN32)
    list(APPEND settings "-DCMAKE_CXX_FLAGS_RELEASE=-O1 -DNDEBUG")
  endif()
  foreach(part BUILD_TESTS BUILD_EXAMPLES BUILD_BENCH INSTALL)
    list(APPEND settings -DLADON_${part}=OFF)
  endforeach()
  foreach(variable CMAKE_MAKE_PROGRAM CMAKE_CXX_COMPILER_LAUNCHER FETCHCONTENT_SOURCE_DIR_CLI11 FETCHCONTENT_SOURCE_DIR_NLOHMANN_JSON
      LADON_CLI11_INCLUDE_DIR LADON_NLOHMANN_JSON_INCLUDE_DIR)
    if(${variable})
      list(APPEND settings -D${variable}=${${variable}})
    endif()
  endforeach()
  add_custom_command(OUTPUT ${folder}/CMakeCache.txt
    COMMAND ${CMAKE_COMMAND} -E env --unset=CMAKE_TOOLCHAIN_FILE
      ${CMAKE_COMMAND} -S ${ladon_source_dir} -B ${folder} -G ${CMAKE_GENERATOR} ${settings}
    COMMENT "Configuring ladon-weights for the machine that builds" VERBATIM)
  add_custom_target(ladon_host_weights
    COMMAND ${CMAKE_COMMAND} --build ${folder} --target ladon_weights --config Release
    DEPENDS ${folder}/CMakeCache.txt BYPRODUCTS ${program} VERBATIM
    COMMENT "Building ladon-weights for the machine that builds")
  set(ladon_host_weights_program ${program} CACHE INTERNAL "")
endfunction()
