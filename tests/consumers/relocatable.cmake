# expect_relocatable(<folder> <path>...): checks that no file below <folder> contains one of the absolute paths <path>.
# A path that goes on behind another character of a path is not absolute. If the checkout lies in /src, for example, the
# relative paths "../src" and "wasm/src" also contain "/src". A path behind a flag such as -I is absolute.
function(expect_relocatable folder)
  file(GLOB_RECURSE files ${folder}/*)
  if(NOT files)
    message(FATAL_ERROR "there is nothing in ${folder}")
  endif()
  # In hexadecimal: the start of the file, or a byte other than a digit, a letter and . - _ }; then perhaps a flag.
  set(start "^|[01][0-9a-f]|2[0-9abcf]|3[a-f]|[46]0|5[b-e]|7[bcef]|[89a-f][0-9a-f]")
  set(flag "2d([46][1-9a-f]|[57][0-9a])")
  foreach(file IN LISTS files)
    file(READ ${file} text HEX)
    foreach(path IN LISTS ARGN)
      string(HEX "${path}" path_in_hex)
      string(FIND "${text}" "${path_in_hex}" position) # faster than a regular expression
      if(NOT position EQUAL -1 AND text MATCHES "(${start})(${flag})?${path_in_hex}")
        message(FATAL_ERROR "${file} holds ${path}")
      endif()
    endforeach()
  endforeach()
endfunction()
