# SPDX-License-Identifier: Apache-2.0
# Installs the headers, the CMake package, the pkg-config files, the program ladon-weights and the library
# ladon::safetensors. The CMake package, the sources of kernels and ladon.pc do not depend on the architecture, so these
# files go to share/, which find_package also searches in a cross build.
#
#   include/ladon/              the headers
#   lib/                        if ladon::safetensors was built: its library, its CMake targets and its pkg-config file
#   share/ladon/cmake/          the CMake package and its functions
#   share/ladon/src/            the sources that ladon_add_kernel compiles
#   share/ladon/ladon_export.py the exporter for modules of PyTorch
#   share/pkgconfig/ladon.pc
#   bin/ladon-weights           if it was built
#
# All files belong to the install component ladon. A project that contains Ladon can therefore install its own files
# without the files of Ladon.

include(CMakePackageConfigHelpers)
include(GNUInstallDirs)
include(${CMAKE_CURRENT_LIST_DIR}/ladon_pkg_config.cmake)

set(ladon_share_dir ${CMAKE_INSTALL_DATADIR}/ladon)
set(ladon_package_dir ${ladon_share_dir}/cmake)
set(ladon_lib_package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/ladon)

# Installs the headers and the target ladon::ladon.
install(DIRECTORY include/ladon DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} COMPONENT ladon FILES_MATCHING PATTERN "*.hpp")
install(FILES LICENSE DESTINATION ${ladon_share_dir} COMPONENT ladon)
target_include_directories(ladon INTERFACE $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
install(TARGETS ladon EXPORT ladon COMPONENT ladon)
install(EXPORT ladon NAMESPACE ladon:: FILE ladonTargets.cmake DESTINATION ${ladon_package_dir} COMPONENT ladon)

# Installs the files that find_package(ladon) reads.
configure_package_config_file(cmake/ladonConfig.cmake.in ${PROJECT_BINARY_DIR}/package/ladonConfig.cmake
  INSTALL_DESTINATION ${ladon_package_dir} PATH_VARS CMAKE_INSTALL_BINDIR ladon_lib_package_dir NO_CHECK_REQUIRED_COMPONENTS_MACRO)
write_basic_package_version_file(${PROJECT_BINARY_DIR}/package/ladonConfigVersion.cmake
  COMPATIBILITY SameMinorVersion ARCH_INDEPENDENT)
install(FILES ${PROJECT_BINARY_DIR}/package/ladonConfig.cmake ${PROJECT_BINARY_DIR}/package/ladonConfigVersion.cmake
  cmake/ladon_headers.cmake DESTINATION ${ladon_package_dir} COMPONENT ladon)

# Installs ladon_add_kernel, ladon_add_model, ladon_report and ladon_install_kernel. As in the source tree, ladon_add_kernel finds the
# sources of kernels in ../src, relative to the folder of ladon_add_kernel.cmake.
install(FILES cmake/arch_flags.cmake cmake/ladon_add_kernel.cmake cmake/ladon_add_model.cmake cmake/ladon_report.cmake
  cmake/report.cmake
  cmake/wasm_tools.cmake cmake/ladon_install_kernel.cmake cmake/ladon_pkg_config.cmake cmake/kernelConfig.cmake.in
  cmake/kernel.pc.in
  DESTINATION ${ladon_package_dir} COMPONENT ladon)
install(DIRECTORY cmake/kernel DESTINATION ${ladon_package_dir} COMPONENT ladon)
install(DIRECTORY src/c_kernel DESTINATION ${ladon_share_dir}/src COMPONENT ladon)

# Installs the exporter for modules of PyTorch.
install(FILES tools/export/ladon_export.py DESTINATION ${ladon_share_dir} COMPONENT ladon)

# Installs the programs ladon-weights and ladon-import.
if(LADON_BUILD_WEIGHTS_TOOL)
  install(TARGETS ladon_weights RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR} COMPONENT ladon)
endif()
if(LADON_BUILD_IMPORT_TOOL)
  install(TARGETS ladon_import RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR} COMPONENT ladon)
endif()

# Installs the library ladon::safetensors.
if(LADON_BUILD_SAFETENSORS)
  install(DIRECTORY src/safetensors/include/ladon DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} COMPONENT ladon)
  install(TARGETS ladon_safetensors EXPORT ladon_safetensors
    ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT ladon INCLUDES DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
  install(EXPORT ladon_safetensors NAMESPACE ladon:: FILE ladonSafetensorsTargets.cmake
    DESTINATION ${ladon_lib_package_dir} COMPONENT ladon)
  ladon_configure_pkg_config(cmake/ladon-safetensors.pc.in ${PROJECT_BINARY_DIR}/package/ladon-safetensors.pc
    ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
  install(FILES ${PROJECT_BINARY_DIR}/package/ladon-safetensors.pc
    DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig COMPONENT ladon)
endif()

# Installs ladon.pc, which pkg-config reads.
ladon_float_flags(ladon_cflags)
list(JOIN ladon_cflags " " ladon_cflags)
ladon_configure_pkg_config(cmake/ladon.pc.in ${PROJECT_BINARY_DIR}/package/ladon.pc ${CMAKE_INSTALL_DATADIR}/pkgconfig)
install(FILES ${PROJECT_BINARY_DIR}/package/ladon.pc
  DESTINATION ${CMAKE_INSTALL_DATADIR}/pkgconfig COMPONENT ladon)
