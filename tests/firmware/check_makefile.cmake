# cmake -DROOT=<source folder> -DFOLDER=<folder> -DMAKE=<make> -DNM=<nm> -DWEIGHTS_TOOL=<ladon-weights>
#   -P check_makefile.cmake
# Tests examples/firmware/makefile, which uses Ladon without CMake, either as headers or as a library that
# cmake/make_kernel.cmake has made. The script runs make_kernel.cmake by the command of docs/microcontrollers.md. The
# program with the headers and the program with the library must print the same checksum. The linker must put the
# workspace into the tightly coupled memory, and the weights into flash.
cmake_minimum_required(VERSION 3.25)
if(NOT MAKE)
  message(FATAL_ERROR "there is no make: install make")
endif()
include(${CMAKE_CURRENT_LIST_DIR}/page_blocks.cmake)
next_block(commands "```sh")
next_block(note "```text")

file(REMOVE_RECURSE ${FOLDER})
file(MAKE_DIRECTORY ${FOLDER})
file(CREATE_LINK ${ROOT} ${FOLDER}/ladon SYMBOLIC)
execute_process(COMMAND sh -ec "${commands}" WORKING_DIRECTORY ${FOLDER} RESULT_VARIABLE status OUTPUT_VARIABLE out
  ERROR_VARIABLE out)
if(NOT status EQUAL 0 OR NOT EXISTS ${FOLDER}/library/attention_kernel.h)
  message(FATAL_ERROR "the command of docs/microcontrollers.md ends with ${status}:\n${out}")
endif()
execute_process(COMMAND ${MAKE} -C ${ROOT}/examples/firmware/makefile LADON=${ROOT} BUILD=${FOLDER} cube run
  OUTPUT_VARIABLE out ERROR_VARIABLE out RESULT_VARIABLE status)
if(NOT status EQUAL 0)
  message(FATAL_ERROR "make ends with ${status}:\n${out}")
endif()
if(out MATCHES "warning|make_kernel") # make must take the library of the command above
  message(FATAL_ERROR "make prints a warning, or makes the library again:\n${out}")
endif()
string(REGEX MATCHALL "checksum of y: [0-9a-f]+" sums "${out}")
string(REPLACE "${note}" "*" marked "${out}")
string(REGEX MATCHALL "[*]" notes "${marked}")
list(LENGTH notes count)
list(LENGTH sums programs)
list(REMOVE_DUPLICATES sums)
list(LENGTH sums different)
if(NOT programs EQUAL 2 OR NOT different EQUAL 1 OR NOT count EQUAL 2)
  message(FATAL_ERROR "expected: two equal checksums, and twice that QEMU does not count cycles:\n${out}")
endif()
message(STATUS "${sums}")

# check_place(<program> <symbol> <first> <last>): checks that the address of <symbol> is from <first> to <last>.
function(check_place program symbol first last)
  execute_process(COMMAND ${NM} ${FOLDER}/${program}.elf OUTPUT_VARIABLE symbols COMMAND_ERROR_IS_FATAL ANY)
  if(NOT symbols MATCHES "(^|\n)([0-9a-f]+) [A-Za-z] ([A-Za-z0-9_]*[0-9])?${symbol}E?\n")
    message(FATAL_ERROR "${program} has no ${symbol}:\n${symbols}")
  endif()
  math(EXPR address "0x${CMAKE_MATCH_2}" OUTPUT_FORMAT HEXADECIMAL)
  if(address LESS first OR address GREATER last)
    message(FATAL_ERROR "${symbol} of ${program} is at ${address}; expected: ${first} to ${last}")
  endif()
endfunction()

foreach(program from_headers from_library)
  check_place(${program} in_weight 0x0 0x1fffff)
  check_place(${program} workspace 0x20000000 0x2001ffff)
  check_place(${program} stack_end 0x20000000 0x20002000)
endforeach()

# Makes a library with the weights of a checkpoint. make_kernel.cmake must accept the relative path of the checkpoint.
execute_process(COMMAND ${CMAKE_COMMAND} -DLADON_CPU=cortex-m7 -DOUT=${FOLDER}/stored -DLADON_WEIGHTS_TOOL=${WEIGHTS_TOOL}
    -P ${ROOT}/cmake/make_kernel.cmake stored QUERIES 6 MODEL 8 HEADS 2 FEED_FORWARD 16 ACTIVATION gelu NORM pre LAYERS 2
    FINAL_NORM MASK padding WEIGHTS pytorch/model.safetensors PREFIX layers
  WORKING_DIRECTORY ${ROOT}/tests/recipes/files OUTPUT_VARIABLE out ERROR_VARIABLE out RESULT_VARIABLE status)
if(NOT status EQUAL 0 OR NOT out MATCHES "STORED_WORKSPACE_BYTES [0-9]+.*/stored/libstored.a and .*/stored/stored.h")
  message(FATAL_ERROR "make_kernel.cmake ends with ${status}:\n${out}")
endif()
file(STRINGS ${FOLDER}/stored/stored.h stored REGEX "stored_stored_weights;")
if(NOT stored)
  message(FATAL_ERROR "${FOLDER}/stored/stored.h has no stored weights")
endif()
execute_process(COMMAND ${CMAKE_COMMAND} -P ${ROOT}/cmake/make_kernel.cmake
  OUTPUT_VARIABLE out ERROR_VARIABLE out RESULT_VARIABLE status)
if(status EQUAL 0 OR NOT out MATCHES "no name; allowed: ")
  message(FATAL_ERROR "make_kernel.cmake without a name ends with ${status}:\n${out}")
endif()
