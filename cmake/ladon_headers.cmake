# SPDX-License-Identifier: Apache-2.0
# Where headers of others lie. The source tree and the installed package share this file.
#
#   ladon_find_headers(<variable> <name> <header>)   the folder that <header> is included from, or empty
#   ladon_wants_xsimd(<variable>)                    whether xsimd could do anything for this target
#   ladon_set_vectors(<target>)                      plain arrays or xsimd, for whoever links <target>

# LADON_<NAME>_INCLUDE_DIR names a folder of one's own. A cross compiler must not see the host's headers: where they
# have only this package, it gets a folder that holds a link to nothing else.
function(ladon_find_headers out name header)
  string(TOUPPER LADON_${name}_INCLUDE_DIR variable)
  if(${variable} AND NOT EXISTS "${${variable}}/${header}")
    message(FATAL_ERROR "ladon: ${variable} is ${${variable}}, where there is no ${header}")
  endif()
  find_path(${variable} ${header})
  mark_as_advanced(${variable})
  set(folder "${${variable}}")
  if(CMAKE_CROSSCOMPILING AND (NOT folder OR folder MATCHES "^(/usr|/usr/local|/opt/homebrew)/include/?$"))
    ladon_link_to_host_headers(folder ${name} ${header})
  endif()
  if(NOT folder)
    set(folder "")
  endif()
  set(${out} "${folder}" PARENT_SCOPE)
endfunction()

function(ladon_link_to_host_headers out name header)
  string(TOUPPER LADON_HOST_${name}_INCLUDE_DIR variable)
  find_path(${variable} ${header} NO_CMAKE_FIND_ROOT_PATH
            PATHS /usr/include /usr/local/include /opt/homebrew/include)
  mark_as_advanced(${variable})
  set(links "")
  if(${variable})
    string(REGEX REPLACE "/.*" "" package ${header})
    set(links ${PROJECT_BINARY_DIR}/ladon_headers/${name})
    file(MAKE_DIRECTORY ${links})
    file(CREATE_LINK ${${variable}}/${package} ${links}/${package} SYMBOLIC)
  endif()
  set(${out} "${links}" PARENT_SCOPE)
endfunction()

# On a microcontroller there is nothing that xsimd knows (simd/vectors.hpp says the same), so nobody need have it. The
# compiler is asked, with the flags of the toolchain file; WebAssembly's come later.
function(ladon_wants_xsimd out)
  set(wanted TRUE)
  if(CMAKE_CROSSCOMPILING AND CMAKE_CXX_COMPILER_LOADED AND NOT EMSCRIPTEN AND NOT LADON_XSIMD_INCLUDE_DIR)
    include(CheckCXXSourceCompiles)
    set(CMAKE_TRY_COMPILE_TARGET_TYPE STATIC_LIBRARY)
    set(CMAKE_REQUIRED_QUIET TRUE)
    check_cxx_source_compiles("
      #if !defined(__SSE2__) && !defined(_M_X64) && !defined(__aarch64__) && !defined(__ARM_NEON)
      #error
      #endif" LADON_XSIMD_KNOWS_TARGET)
    set(wanted ${LADON_XSIMD_KNOWS_TARGET})
  endif()
  set(${out} ${wanted} PARENT_SCOPE)
endfunction()

# ladon_set_vectors(<target> [<xsimd's folder>])
function(ladon_set_vectors target)
  if(LADON_ARRAY_LANES)
    target_compile_definitions(${target} INTERFACE $<BUILD_INTERFACE:LADON_ARRAY_LANES=${LADON_ARRAY_LANES}>)
  elseif(ARGV1)
    target_include_directories(${target} SYSTEM INTERFACE $<BUILD_INTERFACE:${ARGV1}>)
  endif()
endfunction()
