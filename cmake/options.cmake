# How tests, examples and benchmarks are compiled (target ladon_options), and tools that are installed, which must run on
# other machines than this one (target ladon_checks: the same without an instruction set). A user of the library is
# asked for none of it.

set(arch_default default)
if(ladon_IS_TOP_LEVEL AND NOT CMAKE_CROSSCOMPILING)
  set(arch_default native)
endif()
set(LADON_ARCH ${arch_default} CACHE STRING
    "Instruction set: native, default (no flag), sse2, avx2, avx512, or any value of -march")
set(LADON_SANITIZE "" CACHE STRING "Sanitizers, such as address;undefined")
set(LADON_TEST_SET usual CACHE STRING "How much the tests try: quick, usual or slow")
set_property(CACHE LADON_TEST_SET PROPERTY STRINGS quick usual slow)
option(LADON_WERROR "Treat warnings as errors" OFF)

add_library(ladon_checks INTERFACE)
add_library(ladon_options INTERFACE)
ladon_arch_flags(arch_flags ${LADON_ARCH})
target_compile_options(ladon_options INTERFACE ${arch_flags})
target_link_libraries(ladon_options INTERFACE ladon_checks)

# A switch over an enumeration must name each enumerator (-Werror=switch, /we4062), so that a new enumerator is not
# forgotten.
if(MSVC)
  target_compile_options(ladon_checks INTERFACE /W4 /we4062 /permissive- /utf-8 $<$<BOOL:${LADON_WERROR}>:/WX>)
else()
  target_compile_options(ladon_checks INTERFACE
    -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Werror=switch $<$<BOOL:${LADON_WERROR}>:-Werror>)
endif()
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_SYSTEM_PROCESSOR MATCHES "^(arm|aarch64)")
  target_compile_options(ladon_options INTERFACE -Wno-psabi) # notes about an ABI of GCC 9, from xsimd's types
endif()

if(LADON_SANITIZE)
  list(JOIN LADON_SANITIZE "," sanitizers)
  target_compile_options(ladon_checks INTERFACE
    -fsanitize=${sanitizers} -fno-sanitize-recover=all -fno-omit-frame-pointer)
  target_link_options(ladon_checks INTERFACE -fsanitize=${sanitizers})
endif()

if(NOT LADON_TEST_SET MATCHES "^(quick|usual|slow)$")
  message(FATAL_ERROR "LADON_TEST_SET is quick, usual or slow, not '${LADON_TEST_SET}'")
endif()
if(LADON_TEST_SET STREQUAL "quick" AND NOT MSVC)
  # A third of the time to compile, and the same bits: rounding is what the sources say at any level.
  string(REPLACE "-O3" "-O1" CMAKE_CXX_FLAGS_RELEASE "${CMAKE_CXX_FLAGS_RELEASE}")
  # What only tests use that are left out.
  target_compile_options(ladon_checks INTERFACE $<$<CXX_COMPILER_ID:Clang>:-Wno-unused-const-variable>)
endif()
string(TOUPPER ${LADON_TEST_SET} test_set)
target_compile_definitions(ladon_options INTERFACE LADON_TEST_SET_${test_set}=1)
