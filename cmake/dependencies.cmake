# SPDX-License-Identifier: Apache-2.0
# Finds each dependency in one of three places. The first place is FETCHCONTENT_SOURCE_DIR_<NAME>=<folder>, which names
# a local copy. The second place is an installation by the system or by a package manager (CMAKE_PREFIX_PATH). The third
# place is GitHub's archive of a fixed version. CMake downloads this archive and checks its checksum. `git archive` of
# the version's tag makes an archive with the same checksum, so a clone can replace the download. KissFFT is never taken
# from an installation.
#
#   ladon_xsimd_include_dir(<variable>)   sets <variable> to the include folder of xsimd; only the target ladon uses it
#   ladon_need_doctest()                  provides the target doctest::doctest
#   ladon_need_json()                     provides the target nlohmann_json::nlohmann_json
#   ladon_need_cli11()                    provides the target CLI11::CLI11
#   ladon_need_protozero()                provides the target protozero::protozero
#   ladon_need_benchmark()                provides the target benchmark::benchmark
#   ladon_need_kissfft()                  sets LADON_KISSFFT_DIR to a folder with the sources of KissFFT
#   ladon_need_sndfile()                  provides the target SndFile::sndfile
#   ladon_need_samplerate()               provides the target SampleRate::samplerate

# FetchContent is included only before a download, because FetchContent adds variables to the cache of the project that
# uses Ladon.

include(${CMAKE_CURRENT_LIST_DIR}/ladon_headers.cmake)

# ladon_header_folder(<variable> <name> ...): sets <variable> to the include folder of the header-only library <name>.
# Does not use the CMake files of the library, for two reasons. The CMake target of xsimd on Debian 12 links a library
# that is not installed. CMake 4 rejects older versions of doctest as subprojects.
function(ladon_header_folder out name)
  cmake_parse_arguments(PARSE_ARGV 2 arg "" "HEADER;FOLDER;DEBIAN;URL;SHA256" "")
  string(TOUPPER ${name} upper)
  set(folder "")
  if(NOT FETCHCONTENT_SOURCE_DIR_${upper})
    ladon_find_headers(folder ${name} ${arg_HEADER})
  endif()
  if(NOT folder)
    message(STATUS "ladon: ${arg_HEADER} is not installed (on Debian: ${arg_DEBIAN}), so CMake fetches ${arg_URL}")
    include(FetchContent)
    FetchContent_Declare(${name} URL ${arg_URL} URL_HASH SHA256=${arg_SHA256} SOURCE_SUBDIR no-cmake)
    FetchContent_MakeAvailable(${name})
    set(folder ${${name}_SOURCE_DIR}/${arg_FOLDER})
  endif()
  set(${out} ${folder} PARENT_SCOPE)
endfunction()

# Makes the target of a header-only library. A project that contains Ladon may bring the library later, under the same
# name, so only Ladon's own folder sees the target.
function(ladon_header_target target)
  if(NOT TARGET ${target})
    ladon_header_folder(folder ${ARGN})
    set(scope "")
    if(ladon_IS_TOP_LEVEL OR LADON_BUILD_TESTS)
      set(scope GLOBAL)
    endif()
    add_library(${target} INTERFACE IMPORTED ${scope})
    target_include_directories(${target} INTERFACE ${folder})
  endif()
endfunction()

function(ladon_xsimd_include_dir out)
  ladon_header_folder(folder xsimd HEADER xsimd/xsimd.hpp FOLDER include DEBIAN libxsimd-dev
    URL https://github.com/xtensor-stack/xsimd/archive/refs/tags/14.3.0.tar.gz
    SHA256 b3d50e7a73fbf4642ceef30131c93414901d69eee41c2a5302db650b03e2c792)
  set(${out} ${folder} PARENT_SCOPE)
endfunction()

function(ladon_need_doctest)
  ladon_header_target(doctest::doctest doctest HEADER doctest/doctest.h FOLDER . DEBIAN doctest-dev
    URL https://github.com/doctest/doctest/archive/refs/tags/v2.4.12.tar.gz
    SHA256 73381c7aa4dee704bd935609668cf41880ea7f19fa0504a200e13b74999c2d70)
endfunction()

function(ladon_need_json)
  ladon_header_target(nlohmann_json::nlohmann_json nlohmann_json HEADER nlohmann/json.hpp FOLDER single_include DEBIAN nlohmann-json3-dev
    URL https://github.com/nlohmann/json/archive/refs/tags/v3.11.3.tar.gz
    SHA256 0d8ef5af7f9794e3263480193c491549b2ba6cc74bb018906202ada498a79406)
endfunction()

function(ladon_need_cli11)
  ladon_header_target(CLI11::CLI11 cli11 HEADER CLI/CLI.hpp FOLDER include DEBIAN libcli11-dev
    URL https://github.com/CLIUtils/CLI11/archive/refs/tags/v2.5.0.tar.gz
    SHA256 17e02b4cddc2fa348e5dbdbb582c59a3486fa2b2433e70a0c3bacb871334fd55)
endfunction()

function(ladon_need_protozero)
  ladon_header_target(protozero::protozero protozero HEADER protozero/pbf_reader.hpp FOLDER include DEBIAN libprotozero-dev
    URL https://github.com/mapbox/protozero/archive/refs/tags/v1.7.1.tar.gz
    SHA256 27e0017d5b3ba06d646a3ec6391d5ccc8500db821be480aefd2e4ddc3de5ff99)
endfunction()

# Finds the sources of KissFFT. The front end of examples/keywords compiles these sources with the number type
# keywords::Lanes (examples/keywords/fft.cpp), so an installed library cannot be used. No binary package contains the
# sources.
function(ladon_need_kissfft)
  if(NOT LADON_KISSFFT_DIR)
    include(FetchContent)
    FetchContent_Declare(kissfft SOURCE_SUBDIR no-cmake
      URL https://github.com/mborgerding/kissfft/archive/refs/tags/131.1.0.tar.gz
      URL_HASH SHA256=76c1aac87ddb7258f34b08a13f0eebf9e53afa299857568346aa5c82bcafaf1a)
    FetchContent_MakeAvailable(kissfft)
    set(LADON_KISSFFT_DIR ${kissfft_SOURCE_DIR})
  endif()
  if(NOT EXISTS ${LADON_KISSFFT_DIR}/kiss_fftr.c)
    message(FATAL_ERROR "ladon: LADON_KISSFFT_DIR is ${LADON_KISSFFT_DIR}, which has no kiss_fftr.c")
  endif()
  set(LADON_KISSFFT_DIR ${LADON_KISSFFT_DIR} PARENT_SCOPE)
endfunction()

# ladon_need_library(<target> <name> HEADER <header> URL <url> SHA256 <sum> [OFF <option>...]): provides the target
# <target> for the C library <name>, from an installed library or from the downloaded sources. The build of downloaded
# sources switches off each CMake option in OFF.
function(ladon_need_library target name)
  if(TARGET ${target})
    return()
  endif()
  cmake_parse_arguments(PARSE_ARGV 2 arg "" "HEADER;URL;SHA256" "OFF")
  string(TOUPPER ${name} upper)
  if(NOT FETCHCONTENT_SOURCE_DIR_${upper})
    find_path(LADON_${upper}_INCLUDE_DIR ${arg_HEADER})
    find_library(LADON_${upper}_LIBRARY NAMES ${name})
    mark_as_advanced(LADON_${upper}_INCLUDE_DIR LADON_${upper}_LIBRARY)
    if(LADON_${upper}_INCLUDE_DIR AND LADON_${upper}_LIBRARY)
      add_library(${target} UNKNOWN IMPORTED GLOBAL)
      set_target_properties(${target} PROPERTIES IMPORTED_LOCATION ${LADON_${upper}_LIBRARY}
                            INTERFACE_INCLUDE_DIRECTORIES ${LADON_${upper}_INCLUDE_DIR})
      return()
    endif()
  endif()
  message(STATUS "ladon: ${arg_HEADER} is not installed: ${arg_URL}")
  include(FetchContent)
  FetchContent_Declare(${name} URL ${arg_URL} URL_HASH SHA256=${arg_SHA256} SOURCE_SUBDIR no-cmake)
  FetchContent_MakeAvailable(${name})
  foreach(option BUILD_SHARED_LIBS BUILD_TESTING ${arg_OFF})
    set(${option} OFF)
  endforeach()
  set(CMAKE_POLICY_DEFAULT_CMP0077 NEW) # the library's option() then does not overwrite these variables
  set(CMAKE_UNITY_BUILD OFF)
  add_subdirectory(${${name}_SOURCE_DIR} ${${name}_BINARY_DIR} EXCLUDE_FROM_ALL SYSTEM)
  if(NOT TARGET ${target})
    add_library(${target} ALIAS ${name})
  endif()
endfunction()

# Provides libsndfile. A downloaded libsndfile is built without codecs, because examples/keywords reads only WAV files.
function(ladon_need_sndfile)
  ladon_need_library(SndFile::sndfile sndfile HEADER sndfile.h
    OFF BUILD_EXAMPLES BUILD_PROGRAMS BUILD_REGTEST ENABLE_CPACK ENABLE_EXTERNAL_LIBS ENABLE_MPEG ENABLE_PACKAGE_CONFIG
    URL https://github.com/libsndfile/libsndfile/archive/refs/tags/1.2.0.tar.gz
    SHA256 62dc4e2bcd45f6f0e89cbc3522cc90eb174dca0eef0a0d19ead289833b390cd7)
endfunction()

function(ladon_need_samplerate)
  ladon_need_library(SampleRate::samplerate samplerate HEADER samplerate.h OFF LIBSAMPLERATE_EXAMPLES
    URL https://github.com/libsndfile/libsamplerate/archive/refs/tags/0.2.2.tar.gz
    SHA256 16e881487f184250deb4fcb60432d7556ab12cb58caea71ef23960aec6c0405a)
endfunction()

function(ladon_need_benchmark)
  if(TARGET benchmark::benchmark)
    return()
  endif()
  include(FetchContent)
  FetchContent_Declare(benchmark SYSTEM
    URL https://github.com/google/benchmark/archive/refs/tags/v1.9.4.tar.gz
    URL_HASH SHA256=b334658edd35efcf06a99d9be21e4e93e092bd5f95074c1673d5c8705d95c104
    FIND_PACKAGE_ARGS CONFIG GLOBAL)
  foreach(part TESTING INSTALL WERROR)
    set(BENCHMARK_ENABLE_${part} OFF CACHE INTERNAL "")
  endforeach()
  FetchContent_MakeAvailable(benchmark)
endfunction()
