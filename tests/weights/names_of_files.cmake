# Runs ladon-weights and ladon-import with names of files and folders that are not ASCII. The variables are WEIGHTS and
# IMPORT, the commands of both programs; EXAMPLE, a folder with a model; FOLDER, a folder for the files of the test.
file(REMOVE_RECURSE ${FOLDER})
file(MAKE_DIRECTORY ${FOLDER})
set(model "Größe-模型")
file(COPY ${EXAMPLE}/ DESTINATION "${FOLDER}/${model}")

# run(<program> <text> <argument>...): runs a program, which must succeed and print <text>
function(run program text)
  execute_process(COMMAND ${program} ${ARGN} WORKING_DIRECTORY ${FOLDER}
    OUTPUT_VARIABLE output ERROR_VARIABLE error RESULT_VARIABLE status)
  string(FIND "${output}" "${text}" place)
  if(NOT status EQUAL 0 OR place EQUAL -1)
    message(SEND_ERROR "${program} ${ARGN}: expected '${text}', found status ${status}:\n${output}${error}")
  endif()
endfunction()

function(expect_files)
  foreach(file IN LISTS ARGN)
    if(NOT EXISTS "${FOLDER}/${file}")
      file(GLOB_RECURSE found RELATIVE ${FOLDER} ${FOLDER}/*)
      message(SEND_ERROR "there is no ${file}, but: ${found}")
    endif()
  endforeach()
endfunction()

run("${WEIGHTS}" "F32" list "${model}/model.safetensors")
run("${WEIGHTS}" "ladon::Model" describe "${model}")
run("${WEIGHTS}" "" convert "${model}/model.safetensors" "${model}.safetensors" --type bfloat16 --keep ö)
run("${WEIGHTS}" "" take "${model}/model.safetensors" "*norm1*" --symbol t --data "ö.bin" --list "ö.inc" --header "ö.h")
run("${IMPORT}" "" "${model}" --cpp "程序" --name model)
expect_files("${model}.safetensors" "ö.bin" "ö.inc" "ö.h" "程序/main.cpp" "程序/model.hpp")
execute_process(COMMAND ${WEIGHTS} list "${model}-2" WORKING_DIRECTORY ${FOLDER} ERROR_VARIABLE error RESULT_VARIABLE status)
if(NOT status EQUAL 1 OR NOT error MATCHES "^ladon-weights: ${model}-2: no such file")
  message(SEND_ERROR "an absent file: status ${status}: ${error}")
endif()
