# compile_headers(<variable> <flags>...): compiles a file that includes the headers of the flags -include, with warnings
# as errors. COMPILE is the compiler and its flags. Writes the compiler's output to the variable. Stops if the compiler
# fails.
function(compile_headers out)
  execute_process(COMMAND ${COMPILE} -Wall -Wextra -Wpedantic -Werror ${ARGN} -fsyntax-only -xc++ /dev/null
    RESULT_VARIABLE status OUTPUT_VARIABLE said ERROR_VARIABLE err)
  if(NOT status EQUAL 0)
    message(FATAL_ERROR "the headers do not compile:\n${said}${err}")
  endif()
  set(${out} "${said}${err}" PARENT_SCOPE)
endfunction()
