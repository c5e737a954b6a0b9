# expect_relocatable(<folder> <path>...): checks that no file below <folder> contains one of the absolute paths <path>.
# A match directly behind a character of a path does not count. If the checkout lies in /src, for example, the relative
# paths "../src" and "wasm/src" also contain "/src".
function(expect_relocatable folder)
  file(GLOB_RECURSE files ${folder}/*)
  if(NOT files)
    message(FATAL_ERROR "there is nothing in ${folder}")
  endif()
  foreach(file IN LISTS files)
    file(READ ${file} text HEX)
    foreach(path IN LISTS ARGN)
      string(HEX "${path}" path_in_hex)
      string(FIND "${text}" "${path_in_hex}" position)
      if(NOT position EQUAL -1)
        # . - digits letters _ }
        string(REGEX REPLACE "(2[de]|3[0-9]|[46][1-9a-f]|[57][0-9a]|5f|7d)${path_in_hex}" "" text "${text}")
        string(FIND "${text}" "${path_in_hex}" position)
      endif()
      if(NOT position EQUAL -1)
        message(FATAL_ERROR "${file} holds ${path}")
      endif()
    endforeach()
  endforeach()
endfunction()
