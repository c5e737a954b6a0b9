# cmake -DCOMPILE=<compiler;flags> -P check.cmake
# A note where the headers are compiled without optimisation, once for a translation unit, which -Werror does not make an
# error. No note where they are optimised, and where LADON_ALLOW_UNOPTIMIZED is defined.
include(${CMAKE_CURRENT_LIST_DIR}/../support/compile_headers.cmake)
set(headers -DLADON_ARRAY_LANES=1 -include ladon/shape.hpp -include ladon/ladon.hpp)

foreach(level IN ITEMS "" -O0)
  compile_headers(said ${headers} ${level})
  # The compiler prints the text of the note, and the line of the source, which begins with the text, too.
  string(REGEX MATCHALL "(note|warning): [^\n]*ladon: compiled without optimisation" notes "${said}")
  list(LENGTH notes count)
  if(NOT count EQUAL 1)
    message(FATAL_ERROR "${level}: ${count} notes, but there should be 1: ${said}")
  endif()
endforeach()
foreach(flag IN ITEMS -O1 -O3 -Os -DLADON_ALLOW_UNOPTIMIZED)
  compile_headers(said ${headers} ${flag})
  if(said)
    message(FATAL_ERROR "${flag}: there should be nothing to say: ${said}")
  endif()
endforeach()
