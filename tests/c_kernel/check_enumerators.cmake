# cmake -DROOT=<repository> -P check_enumerators.cmake
# Some arguments of ladon_add_kernel, such as ACTIVATION, take the name of an enumerator. Checks that each such argument
# allows all enumerators of its C++ enumeration, in the order of the enumeration. The order matters, because the first
# value is the default.
cmake_minimum_required(VERSION 3.25)
include(${ROOT}/cmake/kernel/arguments.cmake)
ladon_kernel_vocabulary()

function(check_enumerators argument enumeration header)
  file(READ ${ROOT}/include/ladon/${header} text)
  if(NOT text MATCHES "enum class ${enumeration} {([^}]*)}")
    message(FATAL_ERROR "${header} does not define the enumeration ${enumeration}")
  endif()
  string(REGEX MATCHALL "[a-z_0-9]+" enumerators "${CMAKE_MATCH_1}")
  if(NOT "${enumerators}" STREQUAL "${ladon_kernel_${argument}}")
    message(FATAL_ERROR "${enumeration} has ${enumerators}, but ladon_add_kernel allows ${argument} "
      "${ladon_kernel_${argument}}: change ladon_kernel_${argument} in cmake/kernel/arguments.cmake")
  endif()
endfunction()

check_enumerators(ACTIVATION Activation model.hpp)
check_enumerators(NORM NormOrder model.hpp)
check_enumerators(CACHE_PRECISION CachePrecision shape.hpp)
check_enumerators(NORM_KIND NormKind weights.hpp)
