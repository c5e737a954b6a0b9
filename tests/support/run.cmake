# run(<variable> <command>...): runs <command> in FOLDER. The command must succeed. Sets <variable> to its output.
function(run out)
  execute_process(COMMAND ${ARGN} WORKING_DIRECTORY ${FOLDER} RESULT_VARIABLE status OUTPUT_VARIABLE said
    ERROR_VARIABLE said)
  if(NOT status EQUAL 0)
    list(JOIN ARGN " " command)
    message(FATAL_ERROR "${command}\nended with ${status}:\n${said}")
  endif()
  set(${out} "${said}" PARENT_SCOPE)
endfunction()
