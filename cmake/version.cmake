# SPDX-License-Identifier: Apache-2.0
# ladon_version(<variable>): sets <variable> to the version in include/ladon/version.hpp, as major.minor.patch. If
# version.hpp changes, CMake runs again.
function(ladon_version out)
  set(header ${CMAKE_CURRENT_FUNCTION_LIST_DIR}/../include/ladon/version.hpp)
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${header})
  set(version "")
  foreach(part MAJOR MINOR PATCH)
    file(STRINGS ${header} line REGEX "^#define LADON_VERSION_${part} [0-9]+$")
    if(NOT line MATCHES " ([0-9]+)$")
      message(FATAL_ERROR "${header} does not define LADON_VERSION_${part} as a number")
    endif()
    list(APPEND version ${CMAKE_MATCH_1})
  endforeach()
  list(JOIN version "." version)
  set(${out} ${version} PARENT_SCOPE)
endfunction()
