# cmake -DCOMPILE=<compiler;flags> -P check.cmake
# A note where xsimd is missing, which -Werror does not make an error, and silence where plain arrays are asked for.
include(${CMAKE_CURRENT_LIST_DIR}/../support/compile_headers.cmake)
set(headers -DLADON_HAS_XSIMD=0 -include ladon/detail/simd/vectors.hpp)
compile_headers(said ${headers})
if(NOT said MATCHES "ladon: no xsimd")
  message(FATAL_ERROR "no word about xsimd: ${said}")
endif()
compile_headers(said ${headers} -DLADON_ARRAY_LANES=1)
if(said)
  message(FATAL_ERROR "there should be nothing to say: ${said}")
endif()
