# SPDX-License-Identifier: Apache-2.0
# Sets the compiler options of the project itself. Tests, examples and benchmarks link the target ladon_options.
# Installed tools link ladon_checks, which has the same options without an instruction set, because the tools must run
# on other machines, too. A user of the library needs neither target.

set(LADON_SANITIZE "" CACHE STRING "Sanitizers, such as address;undefined")
set(LADON_TEST_SET usual CACHE STRING "Size of the test set: quick, usual, wide or slow")
set_property(CACHE LADON_TEST_SET PROPERTY STRINGS quick usual wide slow)
option(LADON_WERROR "Treat warnings as errors" OFF)

add_library(ladon_checks INTERFACE)
add_library(ladon_options INTERFACE)
target_compile_definitions(ladon_checks INTERFACE LADON_ALLOW_UNOPTIMIZED # tests are not optimised, to compile faster
  LADON_WARNS_OF_SHADOWS)
ladon_set_arch(ladon_options)
target_link_libraries(ladon_options INTERFACE ladon_checks)

# A switch over an enumeration must name each enumerator (-Werror=switch, /we4062), so that a new enumerator is not
# forgotten.
if(NOT ladon_IS_TOP_LEVEL)
  # The project that contains Ladon may have -Werror, which is for the project's own sources.
  target_compile_options(ladon_checks INTERFACE -w)
elseif(MSVC)
  target_compile_options(ladon_checks INTERFACE /W4 /we4062 /permissive- /utf-8 $<$<BOOL:${LADON_WERROR}>:/WX>)
else()
  target_compile_options(ladon_checks INTERFACE
    -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Werror=switch $<$<BOOL:${LADON_WERROR}>:-Werror>)
endif()
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  # g++ 12 takes "x" + string for an overlapping copy (GCC bug 105651).
  target_compile_options(ladon_checks INTERFACE -Wno-restrict)
endif()
if(CMAKE_CXX_COMPILER_ID STREQUAL "Clang" AND CMAKE_CXX_COMPILER_VERSION VERSION_GREATER_EQUAL 22 AND NOT MSVC)
  target_compile_options(ladon_checks INTERFACE -Wno-c2y-extensions) # __COUNTER__, which doctest uses
endif()
if(CMAKE_CXX_COMPILER_ID STREQUAL "Clang" AND CMAKE_CXX_COMPILER_VERSION VERSION_GREATER_EQUAL 19 AND NOT MSVC)
  # On a Granite Rapids, clang++ 19 warns of the features that it chose for -march=native.
  target_compile_options(ladon_checks INTERFACE -Wno-invalid-feature-combination)
endif()
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_SYSTEM_PROCESSOR MATCHES "^(arm|aarch64)")
  target_compile_options(ladon_options INTERFACE -Wno-psabi) # notes about the ABI of GCC 9, caused by xsimd's types
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
# -O1 takes a third of the compile time of -O3. The results have the same bits, because the sources fix every rounding.
# The test set `quick` is compiled with -O1, and `slow` with -O3. The sets `usual` and `wide` are compiled with -O1 if
# the build has tests and no benchmarks. tests/c_kernel is an exception: it is compiled with the flags in
# ladon_release_flags, which have -O1 only in the set `quick`.
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

# By default, g++ collects garbage whenever its heap has grown by 128 MB. The option below delays the first collection
# until the heap has 512 MB. A test of many instantiations then compiles in 6% less time, but g++ needs 1.0 GB of memory
# instead of 0.75 GB (g++ 12).
if(for_tests_alone)
  target_compile_options(ladon_checks INTERFACE $<$<CXX_COMPILER_ID:GNU>:--param=ggc-min-heapsize=524288>)
endif()

# ladon_compile_quickly(<target>...): compiles the targets without optimisation, if the build has tests and no
# benchmarks (for_tests_alone). The function is for programs that take more time to compile than to run.
function(ladon_compile_quickly)
  if(for_tests_alone)
    foreach(target IN LISTS ARGN)
      target_compile_options(${target} PRIVATE -O0)
    endforeach()
  endif()
endfunction()

if(NOT LADON_TEST_SET STREQUAL "slow")
  # -Wno-unused-const-variable: some constants are used only by tests of a larger test set, so clang++ would warn in a
  # smaller set.
  target_compile_options(ladon_checks INTERFACE $<$<CXX_COMPILER_ID:Clang>:-Wno-unused-const-variable>)
endif()
# The test sets `quick` and `usual` switch off the library's support for constant evaluation, because tests then compile
# in two thirds of the time. The sets `wide` and `slow` keep the support, like a user's program. Targets that test
# constant evaluation set the property LADON_CONSTANT_EVALUATION.
if(LADON_TEST_SET MATCHES "^(quick|usual)$")
  target_compile_definitions(ladon_options INTERFACE
    LADON_CONSTANT_EVALUATION=$<BOOL:$<TARGET_PROPERTY:LADON_CONSTANT_EVALUATION>>)
endif()
string(TOUPPER ${LADON_TEST_SET} test_set)
target_compile_definitions(ladon_options INTERFACE LADON_TEST_SET_${test_set}=1)
# LADON_TEST_WIDE selects the cases of a test that only combine what other cases test separately: a second precision
# under the same mask, or a further shape with the same remainders. `./dev test --all` compiles these cases.
if(LADON_TEST_SET MATCHES "^(wide|slow)$") # the slow set has everything that the wide set has
  target_compile_definitions(ladon_options INTERFACE LADON_TEST_WIDE=1)
endif()

# Makes the target ladon_doctest_main: doctest with a main().
function(ladon_need_doctest_main)
  if(TARGET ladon_doctest_main)
    return()
  endif()
  ladon_need_doctest()
  add_library(ladon_doctest_main STATIC ${ladon_SOURCE_DIR}/tests/support/main.cpp)
  target_compile_features(ladon_doctest_main PUBLIC cxx_std_20)
  target_link_libraries(ladon_doctest_main PUBLIC doctest::doctest PRIVATE ladon_checks)
  if(LADON_MINGW_THREADS STREQUAL "win32")
    target_compile_definitions(ladon_doctest_main PUBLIC DOCTEST_CONFIG_NO_MULTITHREADING) # there is no std::mutex
  endif()
  ladon_compile_quickly(ladon_doctest_main)
endfunction()
