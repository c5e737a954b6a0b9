# cmake -DCOMPILE=<compiler;flags> -P check.cmake
# A note where xsimd is missing, which -Werror does not make an error, and silence where plain arrays are asked for.
function(compile out)
  execute_process(COMMAND ${COMPILE} -Wall -Wextra -Wpedantic -Werror -DLADON_HAS_XSIMD=0 ${ARGN} -fsyntax-only
      -include ladon/detail/simd/vectors.hpp -xc++ /dev/null
    RESULT_VARIABLE status OUTPUT_VARIABLE said ERROR_VARIABLE err)
  if(NOT status EQUAL 0)
    message(FATAL_ERROR "it does not compile:\n${said}${err}")
  endif()
  set(${out} "${said}${err}" PARENT_SCOPE)
endfunction()
compile(said)
if(NOT said MATCHES "ladon: no xsimd")
  message(FATAL_ERROR "no word about xsimd: ${said}")
endif()
compile(said -DLADON_ARRAY_LANES=1)
if(said)
  message(FATAL_ERROR "there should be nothing to say: ${said}")
endif()
