# SPDX-License-Identifier: Apache-2.0
# Ladon as a component of ESP-IDF, for components that require it: the headers with the flags of the target
# ladon::ladon, and ladon_add_kernel(). ESP-IDF reads a component twice, first as a script, where
# idf_component_register() is the end.
idf_component_register(INCLUDE_DIRS ${COMPONENT_DIR}/include) # a relative one would be taken from this folder
target_compile_options(${COMPONENT_LIB} INTERFACE
  $<$<COMPILE_LANGUAGE:CXX>:-ffp-contract=off> $<$<COMPILE_LANGUAGE:CXX>:-fno-math-errno>)

# Components are compiled as a newer C++ than 20, which asking for 20 would take back; kernels are no components.
add_library(ladon_of_kernels INTERFACE)
add_library(ladon::ladon ALIAS ladon_of_kernels)
target_compile_features(ladon_of_kernels INTERFACE cxx_std_20)
target_link_libraries(ladon_of_kernels INTERFACE ${COMPONENT_LIB})
include(${CMAKE_CURRENT_LIST_DIR}/version.cmake)
ladon_version(version)
set(LADON_VERSION ${version} CACHE INTERNAL "")
include(${CMAKE_CURRENT_LIST_DIR}/ladon_add_kernel.cmake)
