# Reads the component as ESP-IDF does the first time: in a script, from whatever folder, for what it requires.
# idf_component_register() ends the file it stands in (ESP-IDF's tools/cmake/scripts/component_get_requirements.cmake).
cmake_minimum_required(VERSION 3.25)

macro(idf_component_register)
  message(STATUS "registered ${ARGN}")
  return()
endmacro()

set(COMPONENT_DIR ${LADON_COMPONENT})
include(${LADON_COMPONENT}/CMakeLists.txt)
