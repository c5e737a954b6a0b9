# Tests a project that copied only ladon.hpp, which amalgamate.cmake writes. Compiles and runs the project with the
# vectors of xsimd, and with plain arrays. Two runs of amalgamate.cmake must write equal files.
include(${CMAKE_CURRENT_LIST_DIR}/run.cmake)
file(COPY ${CMAKE_CURRENT_LIST_DIR}/shared/ DESTINATION ${FOLDER})
run(said ${CMAKE_COMMAND} -P ${LADON_CHECKOUT}/cmake/amalgamate.cmake)
run(said ${CMAKE_COMMAND} -DOUTPUT=again.hpp -P ${LADON_CHECKOUT}/cmake/amalgamate.cmake)
run(said ${CMAKE_COMMAND} -E compare_files ladon.hpp again.hpp)
foreach(how IN ITEMS "" -DLADON_ARRAY_LANES=4)
  run(said ${COMPILE_CXX} -DSINGLE_HEADER ${how} attend.cpp -o app)
  run(said ${FOLDER}/app)
  message(STATUS "${how} ${said}")
endforeach()
expect("${said}" "plain arrays")
