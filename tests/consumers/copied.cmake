# Tests a project that contains a copy of include/, on a machine without xsimd. The compiler must print a note, and
# Ladon must compute with plain arrays.
include(${CMAKE_CURRENT_LIST_DIR}/run.cmake)
file(COPY ${PREFIX}/include ${CMAKE_CURRENT_LIST_DIR}/shared/ DESTINATION ${FOLDER})

# hide_xsimd(<variable>): sets <variable> to flags with which the compiler does not find xsimd. The flags list the
# compiler's header folders. If a header folder contains xsimd, the flags name a new folder instead. The new folder has
# links to all other entries of the header folder.
function(hide_xsimd out)
  file(WRITE ${FOLDER}/empty.cpp "")
  run(said ${COMPILE_CXX} -E -v empty.cpp)
  string(REGEX MATCH "#include <[.][.][.]> search starts here:\n(.*)\nEnd of search list" found "${said}")
  string(REGEX REPLACE " *\n *" ";" folders "${CMAKE_MATCH_1}")
  set(flags -nostdinc)
  set(number 0)
  foreach(folder IN LISTS folders)
    string(STRIP "${folder}" folder)
    if(EXISTS ${folder}/xsimd)
      math(EXPR number "${number} + 1")
      file(GLOB entries ${folder}/*)
      list(REMOVE_ITEM entries ${folder}/xsimd)
      set(folder ${FOLDER}/headers/${number})
      file(MAKE_DIRECTORY ${folder})
      foreach(entry IN LISTS entries)
        cmake_path(GET entry FILENAME name)
        file(CREATE_LINK ${entry} ${folder}/${name} SYMBOLIC)
      endforeach()
    endif()
    list(APPEND flags -isystem ${folder})
  endforeach()
  set(${out} ${flags} PARENT_SCOPE)
endfunction()

hide_xsimd(without_xsimd)
run(said ${COMPILE_CXX} -Iinclude ${without_xsimd} attend.cpp -o app)
expect("${said}" "xsimd")
run(said ${FOLDER}/app)
expect("${said}" "plain arrays")
message(STATUS "${said}")
