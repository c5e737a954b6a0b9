# cmake -DCOMPILE=<compiler;flags> -P check.cmake
# Tests headers without xsimd. The compiler must print a note, which does not become an error with -Werror. If the user
# selects plain arrays, the compiler must print nothing.
include(${CMAKE_CURRENT_LIST_DIR}/../support/compile_headers.cmake)
set(headers -DLADON_HAS_XSIMD=0 -include ladon/detail/vec/choose.hpp)
compile_headers(said ${headers})
if(NOT said MATCHES "ladon: no xsimd")
  message(FATAL_ERROR "the output does not mention xsimd: ${said}")
endif()
compile_headers(said ${headers} -DLADON_ARRAY_LANES=1)
if(said)
  message(FATAL_ERROR "expected no output: ${said}")
endif()
