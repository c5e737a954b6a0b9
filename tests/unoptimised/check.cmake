# cmake -DCOMPILE=<compiler;flags> -P check.cmake
# Without optimisation, the headers must print one note for each translation unit. The note must not become an error
# with -Werror. With optimisation or with LADON_ALLOW_UNOPTIMIZED, the headers must print no note.
include(${CMAKE_CURRENT_LIST_DIR}/../support/compile_headers.cmake)
set(headers -DLADON_ARRAY_LANES=1 -include ladon/shape.hpp -include ladon/ladon.hpp)

foreach(level IN ITEMS "" -O0)
  compile_headers(said ${headers} ${level})
  # Counts only lines with "note" or "warning". The compiler also prints the source line of the note, which contains the
  # same text.
  string(REGEX MATCHALL "(note|warning): [^\n]*ladon: compiled without optimisation" notes "${said}")
  list(LENGTH notes count)
  if(NOT count EQUAL 1)
    message(FATAL_ERROR "${level}: ${count} notes, but there should be 1: ${said}")
  endif()
endforeach()
foreach(flag IN ITEMS -O1 -O3 -Os -DLADON_ALLOW_UNOPTIMIZED)
  compile_headers(said ${headers} ${flag})
  if(said)
    message(FATAL_ERROR "${flag}: expected no output: ${said}")
  endif()
endforeach()
