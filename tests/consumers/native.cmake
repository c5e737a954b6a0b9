# -DFOUND=<0 or 1> [-DSAYS=<regex>]
# Tests that programs that link ladon::native are compiled with the flags of LADON_ARCH, and all other programs without
# these flags. In the test project, `app` links ladon::native, and `plain` links ladon::ladon. By default, LADON_ARCH
# stands for the flags of this machine. In a cross build, the default is no flags. With FOUND, also runs `plain`, whose
# output must match SAYS. Without FOUND, also runs `app`, and tests that the project, which contains Ladon's sources,
# installs nothing.
include(${CMAKE_CURRENT_LIST_DIR}/run.cmake)
set(here ${CMAKE_CURRENT_LIST_DIR})
file(COPY ${here}/shared/ ${here}/native/ DESTINATION ${FOLDER}/project)

# expect_flag(<build folder> <regular expression> <settings>...): checks that the regular expression matches the
# compiler command of `app`, but not the compiler command of `plain`.
function(expect_flag build regex)
  run(said ${CMAKE_COMMAND} -S ${FOLDER}/project -B ${FOLDER}/${build} ${SETTINGS} -DFOUND=${FOUND}
    -DCMAKE_EXPORT_COMPILE_COMMANDS=ON ${ARGN})
  file(READ ${FOLDER}/${build}/compile_commands.json commands)
  string(JSON count LENGTH "${commands}")
  math(EXPR last "${count} - 1")
  set(flagged "")
  foreach(i RANGE ${last})
    string(JSON command GET "${commands}" ${i} command)
    if(command MATCHES " ${regex} " AND command MATCHES "CMakeFiles/(app|plain)[.]dir/")
      list(APPEND flagged ${CMAKE_MATCH_1})
    endif()
  endforeach()
  if(NOT flagged STREQUAL "app")
    message(FATAL_ERROR "${regex} is a flag of '${flagged}' in:\n${commands}")
  endif()
endfunction()

expect_flag(native "-m(arch|cpu)=native")
if(FOUND)
  run(said ${CMAKE_COMMAND} --build ${FOLDER}/native --target plain)
  run(said ${FOLDER}/native/plain)
  expect("${said}" "${SAYS}")
else()
  run(said ${CMAKE_COMMAND} --build ${FOLDER}/native --target app)
  run(said ${FOLDER}/native/app)
  run(said ${CMAKE_COMMAND} --install ${FOLDER}/native --prefix ${FOLDER}/prefix)
  if(EXISTS ${FOLDER}/prefix)
    message(FATAL_ERROR "a guest installs:\n${said}")
  endif()
endif()
message(STATUS "${said}")
expect_flag(native "-march=x86-64-v3" -DLADON_ARCH=avx2)

# With CMAKE_SYSTEM_NAME, CMake treats the build as a cross build. `app` must then be compiled without -march and -mcpu.
run(said ${CMAKE_COMMAND} -S ${FOLDER}/project -B ${FOLDER}/cross ${SETTINGS} -DFOUND=${FOUND}
  -DCMAKE_EXPORT_COMPILE_COMMANDS=ON -DCMAKE_SYSTEM_NAME=${CMAKE_HOST_SYSTEM_NAME})
file(READ ${FOLDER}/cross/compile_commands.json commands)
if(commands MATCHES "-m(arch|cpu)=")
  message(FATAL_ERROR "a cross build is compiled for this machine:\n${commands}")
endif()
