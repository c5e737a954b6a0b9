# SPDX-License-Identifier: Apache-2.0
# Writes the program of FOLDER into OUT. If Ladon lacks the model, OUT/missing.txt says why.
file(REMOVE ${OUT}/missing.txt)
execute_process(COMMAND ${TOOL} ${FOLDER} --cpp ${OUT} --name model --tokens 32 ERROR_VARIABLE reason
                RESULT_VARIABLE status ERROR_STRIP_TRAILING_WHITESPACE)
if(status)
  string(REGEX REPLACE "^ladon-import: (.*/config.json: )?" "" reason "${reason}")
  string(REGEX REPLACE "\n *" " " reason "${reason}")
  file(WRITE ${OUT}/main.cpp "// Written by ladon-import: nothing\nint main() { return 1; }\n")
  file(WRITE ${OUT}/model_weights.cpp "// Written by ladon-import: nothing\n")
  file(WRITE ${OUT}/missing.txt "// Written by ladon-import\n${reason}\n")
endif()
