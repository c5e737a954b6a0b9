# cmake -DROOT=<repository> -P check_enumerators.cmake
# Some arguments of ladon_add_kernel, such as ACTIVATION, take the name of an enumerator. Checks that each such argument
# allows all enumerators of its C++ enumeration, in the order of the enumeration. The order matters, because the first
# value is the default. Also checks that MASK allows the masks of src/c_kernel/masks.hpp.
cmake_minimum_required(VERSION 3.25)
include(${ROOT}/cmake/kernel/arguments.cmake)
ladon_kernel_vocabulary()

# check_words(<argument> <words> <source>): checks that <argument> allows the words of the list <words>, in this order
function(check_words argument words source)
  string(REGEX MATCHALL "[a-z_0-9]+" allowed "${ladon_kernel_${argument}}")
  list(REMOVE_ITEM allowed none)
  if(NOT "${words}" STREQUAL "${allowed}")
    message(FATAL_ERROR "${source} has ${words}, but ladon_add_kernel allows ${argument} ${allowed}: change the "
      "vocabulary in cmake/kernel/arguments.cmake")
  endif()
endfunction()

function(check_enumerators argument enumeration header)
  file(READ ${ROOT}/include/ladon/${header} text)
  if(NOT text MATCHES "enum class ${enumeration} {([^}]*)}")
    message(FATAL_ERROR "${header} does not define the enumeration ${enumeration}")
  endif()
  string(REGEX MATCHALL "[a-z_0-9]+" enumerators "${CMAKE_MATCH_1}")
  # PRECISION int8 and int4 with ROTATED; FEED_FORWARD_NORM_KIND
  list(REMOVE_ITEM enumerators none rotated_int8 rotated_int4 same)
  check_words(${argument} "${enumerators}" ${enumeration})
endfunction()

check_enumerators(ACTIVATION Activation model.hpp)
check_enumerators(NORM NormOrder model.hpp)
check_enumerators(RESIDUAL Residual model.hpp)
check_enumerators(LAYOUT LayoutKind model.hpp)
check_enumerators(QUERY_KEY_NORM HeadNorm shape.hpp)
check_enumerators(PRECISION PrecisionKind model.hpp)
check_enumerators(CACHE_PRECISION CachePrecision shape.hpp)
check_enumerators(NORM_KIND NormKind weights.hpp)
check_enumerators(NORM_GAIN NormGain weights.hpp)

# MASK allows the entries of masks.hpp.
file(STRINGS ${ROOT}/src/c_kernel/masks.hpp masks REGEX "^struct [a-z0-9_]+ : ")
list(TRANSFORM masks REPLACE "struct ([a-z0-9_]+) .*" "\\1")
check_words(MASK "${masks}" masks.hpp)

# The page about the arguments names each one.
file(READ ${ROOT}/docs/kernel-arguments.md page)
foreach(argument IN LISTS ladon_kernel_flags ladon_kernel_values ladon_kernel_lists)
  if(NOT page MATCHES "`${argument}[ `]")
    message(FATAL_ERROR "docs/kernel-arguments.md lacks ${argument}")
  endif()
endforeach()
