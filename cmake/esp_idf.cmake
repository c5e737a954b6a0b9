# SPDX-License-Identifier: Apache-2.0
# Makes Ladon a component of ESP-IDF: the headers, the flags of the target ladon::ladon, and ladon_add_kernel(). ESP-IDF
# reads the CMakeLists.txt of a component twice. The first time, ESP-IDF runs CMakeLists.txt as a script, and
# idf_component_register() ends the script. The commands after idf_component_register() therefore run only the second
# time.
idf_component_register(INCLUDE_DIRS ${COMPONENT_DIR}/include) # a relative path would be relative to cmake/
target_compile_options(${COMPONENT_LIB} INTERFACE
  $<$<COMPILE_LANGUAGE:CXX>:-ffp-contract=off> $<$<COMPILE_LANGUAGE:CXX>:-fno-math-errno>)

# ESP-IDF compiles components with a newer C++ standard than C++20. If the component of Ladon required cxx_std_20, the
# requirement would lower the standard. Kernels are not components: they link the separate target ladon_of_kernels,
# which requires C++20.
add_library(ladon_of_kernels INTERFACE)
add_library(ladon::ladon ALIAS ladon_of_kernels)
target_compile_features(ladon_of_kernels INTERFACE cxx_std_20)
target_link_libraries(ladon_of_kernels INTERFACE ${COMPONENT_LIB})
include(${CMAKE_CURRENT_LIST_DIR}/version.cmake)
ladon_version(version)
set(LADON_VERSION ${version} CACHE INTERNAL "")
include(${CMAKE_CURRENT_LIST_DIR}/ladon_add_kernel.cmake)
