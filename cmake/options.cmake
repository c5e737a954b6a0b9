# How tests, examples and benchmarks are compiled (target ladon_options), and tools that are installed, which must run on
# other machines than this one (target ladon_checks: the same without an instruction set). A user of the library is
# asked for none of it.

set(arch_default default)
if(ladon_IS_TOP_LEVEL AND NOT CMAKE_CROSSCOMPILING)
  set(arch_default native)
endif()
set(LADON_ARCH ${arch_default} CACHE STRING
    "Instruction set: native, default (no flag), sse2, avx2, avx512, avx512_vnni, avx_vnni, or any value of -march")
set(LADON_SANITIZE "" CACHE STRING "Sanitizers, such as address;undefined")
set(LADON_TEST_SET usual CACHE STRING "How much the tests try: quick, usual, wide or slow")
set_property(CACHE LADON_TEST_SET PROPERTY STRINGS quick usual wide slow)
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

if(NOT LADON_TEST_SET MATCHES "^(quick|usual|wide|slow)$")
  message(FATAL_ERROR "LADON_TEST_SET is quick, usual, wide or slow, not '${LADON_TEST_SET}'")
endif()
# A build for tests alone compiles at a lower level than users do, in a third of the time. The bits are the same, because
# the sources fix every rounding. C kernels are compiled with ladon_release_flags.
set(for_tests_alone FALSE)
if(NOT LADON_TEST_SET STREQUAL "slow" AND LADON_BUILD_TESTS AND NOT LADON_BUILD_BENCH AND NOT MSVC)
  set(for_tests_alone TRUE)
endif()
set(ladon_release_flags "${CMAKE_CXX_FLAGS_RELEASE}")
string(REPLACE "-O3" "-O1" quick_flags "${CMAKE_CXX_FLAGS_RELEASE}")
if(LADON_TEST_SET STREQUAL "quick" AND NOT MSVC)
  set(CMAKE_CXX_FLAGS_RELEASE "${quick_flags}")
  set(ladon_release_flags "${quick_flags}")
elseif(for_tests_alone)
  set(CMAKE_CXX_FLAGS_RELEASE "${quick_flags}")
endif()

# ladon_compile_quickly(<target>...): does not optimise these targets in a build for tests alone. It is for programs
# that take more time to compile than to run.
function(ladon_compile_quickly)
  if(for_tests_alone)
    foreach(target IN LISTS ARGN)
      target_compile_options(${target} PRIVATE -O0)
    endforeach()
  endif()
endfunction()

if(NOT LADON_TEST_SET STREQUAL "slow")
  # Constants that only the tests of another set use.
  target_compile_options(ladon_checks INTERFACE $<$<CXX_COMPILER_ID:Clang>:-Wno-unused-const-variable>)
endif()
# Without constant evaluation, tests compile in two thirds of the time. The wide and the slow set compile as users do.
# Targets that test constant evaluation set the property LADON_CONSTANT_EVALUATION.
if(LADON_TEST_SET MATCHES "^(quick|usual)$")
  target_compile_definitions(ladon_options INTERFACE
    LADON_CONSTANT_EVALUATION=$<BOOL:$<TARGET_PROPERTY:LADON_CONSTANT_EVALUATION>>)
endif()
string(TOUPPER ${LADON_TEST_SET} test_set)
target_compile_definitions(ladon_options INTERFACE LADON_TEST_SET_${test_set}=1)
if(LADON_TEST_SET MATCHES "^(wide|slow)$") # the slow set has everything that the wide set has
  target_compile_definitions(ladon_options INTERFACE LADON_TEST_WIDE=1)
endif()

# ladon_doctest_main: doctest with its main().
function(ladon_need_doctest_main)
  if(TARGET ladon_doctest_main)
    return()
  endif()
  ladon_need_doctest()
  add_library(ladon_doctest_main STATIC ${ladon_SOURCE_DIR}/tests/support/main.cpp)
  target_compile_features(ladon_doctest_main PUBLIC cxx_std_20)
  target_link_libraries(ladon_doctest_main PUBLIC doctest::doctest PRIVATE ladon_checks)
  ladon_compile_quickly(ladon_doctest_main)
endfunction()
