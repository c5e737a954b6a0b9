# -DPROJECT=<folder beside this file> [-DMORE=<a setting>] [-DMOVED=<folder>] [-DGUEST=1]
#   [-DGENERATOR=<a generator of CMake>]
# Copies the folder PROJECT, and the folder `shared` with common files of all projects. Configures and builds the
# project, and runs its program `app`, which must succeed. If the project installs files, they are moved to the folder
# MOVED. With GUEST, the project must install nothing.
include(${CMAKE_CURRENT_LIST_DIR}/run.cmake)
set(here ${CMAKE_CURRENT_LIST_DIR})
file(COPY ${here}/shared/ ${here}/${PROJECT}/ DESTINATION ${FOLDER}/project)
run(said ${CMAKE_COMMAND} -S ${FOLDER}/project -B ${FOLDER}/build ${SETTINGS} ${MORE})
run(said ${CMAKE_COMMAND} --build ${FOLDER}/build --config Release)
file(GLOB app ${FOLDER}/build/app ${FOLDER}/build/app.exe ${FOLDER}/build/Release/app*)
run(said ${app})
message(STATUS "${said}")

if(MOVED OR GUEST)
  run(said ${CMAKE_COMMAND} --install ${FOLDER}/build --config Release --prefix ${FOLDER}/prefix)
endif()
if(GUEST AND EXISTS ${FOLDER}/prefix)
  message(FATAL_ERROR "a guest installs:\n${said}")
elseif(MOVED)
  include(${here}/relocatable.cmake)
  expect_relocatable(${FOLDER}/prefix ${FOLDER})
  file(REMOVE_RECURSE ${MOVED})
  file(RENAME ${FOLDER}/prefix ${MOVED})
endif()
