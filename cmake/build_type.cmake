# SPDX-License-Identifier: Apache-2.0
# ladon_warn_without_optimisation(): warns if a project that contains Ladon sets neither a build type nor a level of
# optimisation. Does not warn in a cross build, because a toolchain file may add the level later.
function(ladon_warn_without_optimisation)
  get_directory_property(options COMPILE_OPTIONS)
  if(NOT CMAKE_BUILD_TYPE AND NOT CMAKE_CONFIGURATION_TYPES AND NOT CMAKE_CROSSCOMPILING
     AND NOT "${CMAKE_CXX_FLAGS};${options}" MATCHES "(^|[; ])[-/]O[1-3sgzxf]")
    message(WARNING "ladon: CMAKE_BUILD_TYPE is empty, so programs that include Ladon's headers are compiled without "
      "optimisation and are hundreds of times as slow. Configure with -DCMAKE_BUILD_TYPE=Release. (Libraries of "
      "ladon_add_kernel are optimised anyway.)")
  endif()
endfunction()
