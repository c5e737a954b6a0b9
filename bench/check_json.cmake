# Tests that the program PROGRAM (ladon_bench) writes its figures correctly with the option --json. Writes files into
# the folder FOLDER.
cmake_policy(VERSION 3.25)
file(REMOVE_RECURSE ${FOLDER})
file(MAKE_DIRECTORY ${FOLDER})
set(file ${FOLDER}/figures.json)

# check(<what> <condition>...): if the condition is false, appends the text <what> to the list `wrong`.
set(wrong "")
macro(check what)
  if(NOT (${ARGN}))
    list(APPEND wrong "${what}: status '${status}', '${said}'")
  endif()
endmacro()
macro(run)
  execute_process(COMMAND ${PROGRAM} ${ARGN} RESULT_VARIABLE status OUTPUT_QUIET ERROR_VARIABLE said TIMEOUT 3)
endmacro()

run(--benchmark_filter=attention/16,32,4/full --rounds 1 --patience 0 --json ${file})
file(READ ${file} figures)
string(JSON machine ERROR_VARIABLE problem GET "${figures}" machine)
check("figures" status EQUAL 0 AND problem STREQUAL "NOTFOUND")

file(WRITE ${file} old)
run(--rounds 1000000 --json ${file})
file(READ ${file} figures)
check("a stopped program" status MATCHES "timeout" AND figures STREQUAL "old")

run(--rounds 1000000 --json ${FOLDER}/absent/figures.json)
check("a folder that does not exist" status EQUAL 1 AND said MATCHES "absent/figures.json: cannot be written: ")

run(--rounds 1000000 --benchmark_out=${file})
check("--benchmark_out" status EQUAL 2 AND said MATCHES "use --json")

file(GLOB left RELATIVE ${FOLDER} ${FOLDER}/* ${FOLDER}/.*)
check("files left: ${left}" left STREQUAL "figures.json")
if(wrong)
  list(JOIN wrong "\n" wrong)
  message(FATAL_ERROR "${wrong}")
endif()
