# cmake -P versions_self_test.cmake: tests versions.cmake, which must name every file that states another version.
cmake_minimum_required(VERSION 3.25)
execute_process(COMMAND ${CMAKE_COMMAND} -DVERSION=98.7.6 -P ${CMAKE_CURRENT_LIST_DIR}/versions.cmake
  RESULT_VARIABLE status ERROR_VARIABLE said)
if(status EQUAL 0)
  message(FATAL_ERROR "versions.cmake accepts files that state another version:\n${said}")
endif()
foreach(file IN ITEMS CHANGELOG.md CITATION.cff README.md docs/browser.md docs/install.md docs/roadmap.md
        idf_component.yml library.json packaging/vcpkg/ladon/vcpkg.json src/tokenizer/Cargo.lock.in
        src/tokenizer/Cargo.toml wasm/README.md wasm/package-lock.json wasm/package.json)
  string(FIND "${said}" "\n    ${file}\n" found)
  if(found EQUAL -1)
    message(FATAL_ERROR "versions.cmake does not name ${file}:\n${said}")
  endif()
endforeach()
