# SPDX-License-Identifier: Apache-2.0
# Libraries of one project may each bring Ladon. The first copy serves all of them if its version fits.
#
# ladon_use_first_copy(<version> <variable>): sets <variable> to ON if the project already has a copy that can replace
# <version>: one with the same interface (major.minor) that is at least as new. Stops with an error if the project has a
# copy that cannot.
function(ladon_use_first_copy version out)
  set(${out} OFF PARENT_SCOPE)
  get_property(first GLOBAL PROPERTY LADON_COPY)
  if(NOT first)
    if(TARGET ladon::ladon) # find_package
      set(first "${ladon_DIR}" "${ladon_VERSION}")
    else()
      set_property(GLOBAL PROPERTY LADON_COPY "${CMAKE_CURRENT_SOURCE_DIR}" "${version}")
      return()
    endif()
  endif()
  list(GET first 0 folder)
  list(GET first 1 first_version)
  string(REGEX MATCH "^[0-9]+[.][0-9]+" interface "${version}")
  string(REGEX MATCH "^[0-9]+[.][0-9]+" first_interface "${first_version}")
  if(NOT interface STREQUAL first_interface OR first_version VERSION_LESS version)
    message(FATAL_ERROR "ladon: ${CMAKE_CURRENT_SOURCE_DIR} needs version ${version}, but ${folder} has brought version "
      "${first_version} into this project. Let both parts of the project use one copy that is at least as new")
  endif()
  message(STATUS "ladon: ${CMAKE_CURRENT_SOURCE_DIR} uses the copy in ${folder}, version ${first_version}")
  set(${out} ON PARENT_SCOPE)
endfunction()
