# cmake -DNM= -DLIBRARY= -P check_unique_symbols.cmake
# Fails if two objects of a library define the same function. On Windows, the linker keeps one definition, which may be
# compiled for instructions that the machine lacks.
cmake_minimum_required(VERSION 3.25)

execute_process(COMMAND ${NM} --defined-only --extern-only ${LIBRARY} OUTPUT_VARIABLE said COMMAND_ERROR_IS_FATAL ANY)
string(REGEX MATCHALL " [TWV] [^\n]+" functions "${said}")
if(NOT functions)
  message(FATAL_ERROR "${LIBRARY} defines no function:\n${said}")
endif()
set(unique ${functions})
list(REMOVE_DUPLICATES unique)
list(LENGTH functions count)
list(LENGTH unique unique_count)
if(NOT count EQUAL unique_count)
  foreach(name IN LISTS unique)
    list(REMOVE_AT functions 0)
    if(name IN_LIST functions)
      message("defined more than once: ${name}")
    endif()
  endforeach()
  message(FATAL_ERROR "${LIBRARY}: ${count} functions with ${unique_count} names")
endif()
message("${LIBRARY}: ${count} functions, all with different names")
