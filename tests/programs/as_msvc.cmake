# cmake -DCOMPILER=<clang++> -DFLAGS=<flags> -DINCLUDE=<folder> -DPROGRAM=<file> -P as_msvc.cmake
# Compiles as_msvc.cpp, without optimisation, which takes half of the time. Runs the program if this processor has the instructions of FLAGS.
cmake_minimum_required(VERSION 3.25)
execute_process(COMMAND ${COMPILER} -std=c++20 -O0 -Wall -Wextra -Werror -Wno-builtin-macro-redefined -Wno-unknown-attributes -fms-extensions -ffp-contract=off
    -fno-math-errno ${FLAGS} -I${INCLUDE} ${CMAKE_CURRENT_LIST_DIR}/as_msvc.cpp -o ${PROGRAM}
  RESULT_VARIABLE status OUTPUT_VARIABLE said ERROR_VARIABLE said)
if(NOT status EQUAL 0)
  message(FATAL_ERROR "as_msvc.cpp does not compile:\n${said}")
endif()
execute_process(COMMAND ${PROGRAM} RESULT_VARIABLE status OUTPUT_VARIABLE said)
if(NOT status EQUAL 0 AND NOT status MATCHES "[Ii]llegal")
  message(FATAL_ERROR "the program ended with ${status}:\n${said}")
endif()
