# SPDX-License-Identifier: Apache-2.0
# This overlay port installs the checkout that contains the port.
#
#   vcpkg install ladon --overlay-ports=<checkout>/packaging/vcpkg
#
# A port in a registry would instead set SOURCE_PATH with vcpkg_from_git() and a released commit.
cmake_path(SET SOURCE_PATH NORMALIZE "${CURRENT_PORT_DIR}/../../..")
set(VCPKG_BUILD_TYPE release) # without a debug build, which would install equal headers

vcpkg_cmake_configure(
  SOURCE_PATH "${SOURCE_PATH}"
  OPTIONS
    -DLADON_INSTALL=ON
    -DLADON_BUILD_TESTS=OFF
    -DLADON_BUILD_EXAMPLES=OFF
    -DLADON_BUILD_BENCH=OFF
    -DLADON_BUILD_WEIGHTS_TOOL=OFF)
vcpkg_cmake_install()

# The CMake package stays in share/ladon/cmake, which find_package() searches. ladon_add_kernel finds its sources in
# share/ladon/src, relative to this folder.
vcpkg_install_copyright(FILE_LIST "${SOURCE_PATH}/LICENSE")
file(INSTALL "${CMAKE_CURRENT_LIST_DIR}/usage" DESTINATION "${CURRENT_PACKAGES_DIR}/share/${PORT}")
