# SPDX-License-Identifier: Apache-2.0
# cmake [-DOUTPUT=<folder>] [-DLADON_URL=<address>] -P arduino.cmake
#
# Makes the library for the Arduino IDE: the folder OUTPUT/Ladon, and the file Ladon-<version>.zip beside the folder
# ("Sketch, Include Library, Add .ZIP Library"). The checkout itself cannot be an Arduino library, because Arduino
# compiles all files in src/ and adds no other folder to the include path. LADON_URL is the project's page, which
# Arduino requires. The default of LADON_URL is the address from which this checkout was cloned.
cmake_minimum_required(VERSION 3.25)

cmake_path(GET CMAKE_CURRENT_LIST_DIR PARENT_PATH root)
include(${CMAKE_CURRENT_LIST_DIR}/version.cmake)
ladon_version(version)
if(NOT DEFINED OUTPUT)
  set(OUTPUT arduino)
endif()
cmake_path(ABSOLUTE_PATH OUTPUT)
if(NOT LADON_URL)
  execute_process(COMMAND git -C ${root} remote get-url origin OUTPUT_VARIABLE origin ERROR_QUIET
                  OUTPUT_STRIP_TRAILING_WHITESPACE)
  string(REGEX REPLACE "://[^/]*@" "://" LADON_URL "${origin}") # removes a user name and a password
endif()
if(NOT LADON_URL MATCHES "^https?://")
  message(FATAL_ERROR
    "arduino.cmake: this checkout was not cloned from an http address: -DLADON_URL=<the project's page>")
endif()

set(library ${OUTPUT}/Ladon)
file(REMOVE_RECURSE ${library})
file(COPY ${root}/examples/arduino/Attention DESTINATION ${library}/examples)
file(COPY ${root}/LICENSE DESTINATION ${library})
configure_file(${root}/examples/arduino/library.properties.in ${library}/library.properties @ONLY)
file(MAKE_DIRECTORY ${library}/src)
execute_process(COMMAND ${CMAKE_COMMAND} -DOUTPUT=${library}/src/ladon.h -P ${CMAKE_CURRENT_LIST_DIR}/amalgamate.cmake
                COMMAND_ERROR_IS_FATAL ANY)
execute_process(COMMAND ${CMAKE_COMMAND} -E tar cf Ladon-${version}.zip --format=zip Ladon
                WORKING_DIRECTORY ${OUTPUT} COMMAND_ERROR_IS_FATAL ANY)
message(STATUS "${OUTPUT}/Ladon-${version}.zip")
