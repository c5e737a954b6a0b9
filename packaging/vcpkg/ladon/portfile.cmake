# SPDX-License-Identifier: Apache-2.0
# An overlay port: it installs the checkout that it lies in.
#
#   vcpkg install ladon --overlay-ports=<checkout>/packaging/vcpkg
#
# In a registry, vcpkg_from_git() of a released commit sets SOURCE_PATH.
cmake_path(SET SOURCE_PATH NORMALIZE "${CURRENT_PORT_DIR}/../../..")
set(VCPKG_BUILD_TYPE release) # headers are the same in a debug build

vcpkg_cmake_configure(
  SOURCE_PATH "${SOURCE_PATH}"
  OPTIONS
    -DLADON_INSTALL=ON
    -DLADON_BUILD_TESTS=OFF
    -DLADON_BUILD_EXAMPLES=OFF
    -DLADON_BUILD_BENCH=OFF
    -DLADON_BUILD_WEIGHTS_TOOL=OFF)
vcpkg_cmake_install()

# find_package() looks into share/ladon/cmake, so the CMake package stays where it is. Its functions compile share/ladon/src.
vcpkg_install_copyright(FILE_LIST "${SOURCE_PATH}/LICENSE")
file(INSTALL "${CMAKE_CURRENT_LIST_DIR}/usage" DESTINATION "${CURRENT_PACKAGES_DIR}/share/${PORT}")
