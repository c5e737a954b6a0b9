# What all the scripts beside this one begin with. cmake -DCOMMON=<common.cmake> -DFOLDER=<folder> ... -P <script>:
# COMMON says what is tested and by what (CMakeLists.txt writes it), FOLDER is the test's own.
cmake_minimum_required(VERSION 3.25)
include(${COMMON})

# A fresh folder, and none of what this shell may tell compilers and CMake.
file(REMOVE_RECURSE ${FOLDER})
file(MAKE_DIRECTORY ${FOLDER})
foreach(variable IN ITEMS CFLAGS CXXFLAGS CPATH C_INCLUDE_PATH CPLUS_INCLUDE_PATH PKG_CONFIG_PATH CMAKE_PREFIX_PATH
        DESTDIR)
  unset(ENV{${variable}})
endforeach()

# run(<variable> <command>...): what it printed; it must succeed
function(run out)
  execute_process(COMMAND ${ARGN} WORKING_DIRECTORY ${FOLDER} RESULT_VARIABLE status OUTPUT_VARIABLE said
    ERROR_VARIABLE said)
  if(NOT status EQUAL 0)
    list(JOIN ARGN " " command)
    message(FATAL_ERROR "${command}\nended with ${status}:\n${said}")
  endif()
  set(${out} "${said}" PARENT_SCOPE)
endfunction()

# expect(<text> <regular expression>): wherever its lines are broken
function(expect text regex)
  string(REGEX REPLACE "[ \r\n]+" " " flat "${text}")
  if(NOT flat MATCHES "${regex}")
    message(FATAL_ERROR "expected '${regex}' in:\n${text}")
  endif()
endfunction()
