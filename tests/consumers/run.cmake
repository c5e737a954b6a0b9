# Every script of this folder includes this file first. A test runs a script by: cmake -DCOMMON=<file> -DFOLDER=<folder>
# ... -P <script>
#
# CMakeLists.txt writes the file COMMON. COMMON sets which copy of Ladon is tested, and the paths of the tools. Each
# test has its own FOLDER.
cmake_minimum_required(VERSION 3.25)
include(${COMMON})

# Makes FOLDER an empty folder. Unsets environment variables that change what compilers and CMake do.
file(REMOVE_RECURSE ${FOLDER})
file(MAKE_DIRECTORY ${FOLDER})
foreach(variable IN ITEMS CFLAGS CXXFLAGS CPATH C_INCLUDE_PATH CPLUS_INCLUDE_PATH PKG_CONFIG_PATH CMAKE_PREFIX_PATH
        DESTDIR)
  unset(ENV{${variable}})
endforeach()

include(${CMAKE_CURRENT_LIST_DIR}/../support/run.cmake)

# expect(<text> <regular expression>): stops with an error unless the text matches. Line breaks count as spaces.
function(expect text regex)
  string(REGEX REPLACE "[ \r\n]+" " " flat "${text}")
  if(NOT flat MATCHES "${regex}")
    message(FATAL_ERROR "expected '${regex}' in:\n${text}")
  endif()
endfunction()
