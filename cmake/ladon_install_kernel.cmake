# SPDX-License-Identifier: Apache-2.0
# ladon_install_kernel(<name> [VERSION <version>] [COMPONENT <component>]): installs a kernel, so that C projects
# without Ladon can use the kernel. ladon_add_kernel(<name> ...) must come first.
#
# Installs the library, the header, a pkg-config file and a CMake package. Under Emscripten, also installs the modules,
# in the folder of the library. A project that uses the installed kernel needs no C++ compiler. The installed files do
# not contain the installation prefix, so they can be moved together.
#
#   pkg-config   cc main.c $(pkg-config --cflags --libs <name>)
#   CMake        find_package(<name> CONFIG), target_link_libraries(app PRIVATE <name>)
#
# VERSION is the version of the installed packages, by default the version of the project, or 0. COMPONENT is the
# component to which install() assigns the files.

include(${CMAKE_CURRENT_LIST_DIR}/ladon_pkg_config.cmake)

function(ladon_install_kernel name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "VERSION;COMPONENT" "")
  if(arg_UNPARSED_ARGUMENTS OR arg_KEYWORDS_MISSING_VALUES)
    message(FATAL_ERROR "ladon_install_kernel(${name}): takes VERSION and COMPONENT, each with a value, not: "
      "${arg_UNPARSED_ARGUMENTS} ${arg_KEYWORDS_MISSING_VALUES}")
  elseif(NOT TARGET ${name})
    message(FATAL_ERROR "ladon_install_kernel(${name}): there is no kernel ${name} made by ladon_add_kernel")
  endif()
  include(GNUInstallDirs)
  set(version 0)
  foreach(given IN ITEMS "${PROJECT_VERSION}" "${arg_VERSION}")
    if(NOT given STREQUAL "")
      set(version ${given})
    endif()
  endforeach()
  set(component "")
  if(arg_COMPONENT)
    set(component COMPONENT ${arg_COMPONENT})
  endif()
  get_target_property(header ${name} LADON_HEADER)
  install(TARGETS ${name} ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR} ${component})
  install(FILES ${header} DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} ${component})
  get_target_property(modules ${name} LADON_MODULES)
  if(modules)
    install(FILES ${modules} DESTINATION ${CMAKE_INSTALL_LIBDIR} ${component})
  endif()
  ladon_install_kernel_package(${name} ${version} ${component})
endfunction()

# ladon_install_kernel_package(<name> <version>): writes the CMake package of a kernel. install(EXPORT) cannot write
# this package, because it would declare a C++ library, and CMake would then link the C++ runtime into a C project.
function(ladon_install_kernel_package name version)
  include(CMakePackageConfigHelpers)
  set(here ${CMAKE_CURRENT_FUNCTION_LIST_DIR})
  set(made ${CMAKE_CURRENT_BINARY_DIR}/${name}_package)
  set(library ${CMAKE_STATIC_LIBRARY_PREFIX}${name}${CMAKE_STATIC_LIBRARY_SUFFIX})
  set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/${name})
  configure_package_config_file(${here}/kernelConfig.cmake.in ${made}/${name}Config.cmake
    INSTALL_DESTINATION ${package_dir} PATH_VARS CMAKE_INSTALL_INCLUDEDIR CMAKE_INSTALL_LIBDIR
    NO_SET_AND_CHECK_MACRO NO_CHECK_REQUIRED_COMPONENTS_MACRO)
  write_basic_package_version_file(${made}/${name}ConfigVersion.cmake VERSION ${version}
    COMPATIBILITY SameMajorVersion)
  install(FILES ${made}/${name}Config.cmake ${made}/${name}ConfigVersion.cmake DESTINATION ${package_dir} ${ARGN})
  ladon_configure_pkg_config(${here}/kernel.pc.in ${made}/${name}.pc ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
  install(FILES ${made}/${name}.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig ${ARGN})
endfunction()
