# compile_headers(<variable> <flags>...): compiles headers with -Werror, and sets <variable> to the compiler's output.
# If the compiler fails, CMake stops with an error. The flags contain "-include HEADER" for each header. COMPILE is the
# compiler and its flags.
function(compile_headers out)
  execute_process(COMMAND ${COMPILE} -Wall -Wextra -Wpedantic -Werror ${ARGN} -fsyntax-only -xc++ /dev/null
    RESULT_VARIABLE status OUTPUT_VARIABLE said ERROR_VARIABLE err)
  if(NOT status EQUAL 0)
    message(FATAL_ERROR "the headers do not compile:\n${said}${err}")
  endif()
  set(${out} "${said}${err}" PARENT_SCOPE)
endfunction()
