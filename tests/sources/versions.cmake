# cmake [-DVERSION=<version>] -P versions.cmake
#
# Checks that every file that states the version of Ladon agrees with include/ladon/version.hpp, or with VERSION.
cmake_minimum_required(VERSION 3.25)
cmake_path(GET CMAKE_CURRENT_LIST_DIR PARENT_PATH root)
cmake_path(GET root PARENT_PATH root)
include(${root}/cmake/version.cmake)
if(DEFINED VERSION)
  set(version ${VERSION})
else()
  ladon_version(version)
endif()
string(REPLACE "." "[.]" pattern ${version})
string(REGEX REPLACE "[[]\\.[]][0-9]+$" "" minor "${pattern}") # find_package accepts each patch of a minor version

set(wrong "")
foreach(stated IN ITEMS
    "CHANGELOG.md:\n## [[]${pattern}[]] - [0-9]+-[0-9]+-[0-9]+\n"
    "CITATION.cff:\nversion: ${pattern}\n"
    "README.md:find_package[(]ladon ${minor} CONFIG"
    "docs/browser.md:/ladon-${pattern}[.]tgz"
    "docs/install.md:find_package[(]ladon ${minor} CONFIG"
    "docs/install.md:\"ladon/${pattern}\""
    "docs/install.md:describes Ladon ${pattern}[.]"
    "docs/roadmap.md:newest version is ${pattern}[.]"
    "docs/roadmap.md:`find_package[(]ladon ${minor}[)]` accepts every ${minor} version"
    "idf_component.yml:version: \"${pattern}\"\n"
    "library.json:\n  \"version\": \"${pattern}\""
    "packaging/vcpkg/ladon/vcpkg.json:\n  \"version\": \"${pattern}\""
    "src/tokenizer/Cargo.lock.in:\nname = \"ladon_tokenizer_crate\"\nversion = \"${pattern}\"\n"
    "src/tokenizer/Cargo.toml:\nversion = \"${pattern}\"\n"
    "wasm/README.md:/ladon-${pattern}[.]tgz"
    "wasm/package-lock.json:\n  \"version\": \"${pattern}\""
    "wasm/package-lock.json:\n      \"name\": \"ladon\",\n      \"version\": \"${pattern}\""
    "wasm/package.json:\n  \"version\": \"${pattern}\"")
  string(REGEX MATCH "^([^:]+):(.+)$" found "${stated}")
  set(file ${CMAKE_MATCH_1}) # a variable, because a failed MATCHES empties CMAKE_MATCH_1
  set(regex "${CMAKE_MATCH_2}")
  file(READ ${root}/${file} text)
  if(NOT "\n${text}" MATCHES "${regex}")
    list(APPEND wrong ${file})
  endif()
endforeach()
if(wrong)
  list(REMOVE_DUPLICATES wrong)
  list(JOIN wrong "\n  " wrong)
  message(FATAL_ERROR "the version of these files is not ${version}, the version of include/ladon/version.hpp:\n  ${wrong}")
endif()
