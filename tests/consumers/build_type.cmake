# Tests the warning about a missing build type. A project that contains Ladon and sets no build type gets one warning. A
# project that sets a build type or an optimisation level gets no warning.
include(${CMAKE_CURRENT_LIST_DIR}/run.cmake)
set(here ${CMAKE_CURRENT_LIST_DIR})
file(COPY ${here}/shared/ ${here}/native/ DESTINATION ${FOLDER}/project)
list(FILTER SETTINGS EXCLUDE REGEX "^-DCMAKE_CXX_FLAGS=")
unset(ENV{CMAKE_BUILD_TYPE})

# expect_warnings(<count> <settings>...): configures the project with <settings>. CMake must print exactly <count>
# warnings. All calls use one build folder, because CMake then examines the compiler only once. So a setting stays set
# in the next calls.
function(expect_warnings expected)
  run(said ${CMAKE_COMMAND} -S ${FOLDER}/project -B ${FOLDER}/build ${SETTINGS} ${ARGN})
  string(REGEX MATCHALL "CMAKE_BUILD_TYPE[ \r\n]+is[ \r\n]+empty" warnings "${said}")
  list(LENGTH warnings count)
  if(NOT count EQUAL expected)
    message(FATAL_ERROR "${ARGN}: ${count} warnings instead of ${expected}:\n${said}")
  endif()
endfunction()
expect_warnings(1)
expect_warnings(1 "-DCMAKE_CXX_FLAGS=-g -DNAME=x-O2")
expect_warnings(0 "-DCMAKE_CXX_FLAGS=-g -O2")
expect_warnings(0 -DCMAKE_CXX_FLAGS=-O1)
expect_warnings(1 -DCMAKE_CXX_FLAGS=-O0)
expect_warnings(0 -DCMAKE_CXX_FLAGS= -DCMAKE_BUILD_TYPE=Debug)
