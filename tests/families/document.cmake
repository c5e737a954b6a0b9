# SPDX-License-Identifier: Apache-2.0
# Writes DOCUMENT (docs/families.md): a row for each of FOLDERS, with the description that TOOL prints, and the errors in
# the file RESULTS. Without RESULTS, checks that DOCUMENT has the rows of all folders in MODELS. The check ignores the
# errors, because they depend on the machine.

# The members of a Model that are sizes.
set(sizes "layers|tokens|memory|model|heads|kv_heads|head_width|value_width|feed_forward|kind_of_layer")

# Sets `out` to the beginning of a folder's row: its name and what it uses, or what Ladon lacks.
function(row out folder)
  cmake_path(GET folder FILENAME name)
  execute_process(COMMAND ${TOOL} describe ${folder} --tokens 32 OUTPUT_VARIABLE text ERROR_VARIABLE reason
                  RESULT_VARIABLE status OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_STRIP_TRAILING_WHITESPACE)
  if(status)
    string(REGEX REPLACE "^ladon-weights: .*/config.json: " "" reason "${reason}")
    string(REGEX REPLACE "\n *" " " reason "${reason}")
    string(REPLACE "|" "\\|" reason "${reason}")
    set(${out} "| ${name} | missing: ${reason} |" PARENT_SCOPE)
    return()
  endif()
  string(REGEX MATCHALL "\nnamespace [a-z]+|\n    \\.[^\n]*" lines "${text}")
  set(used "")
  foreach(line IN LISTS lines)
    if(line MATCHES "^\nnamespace (.*)")
      string(APPEND used "<br>${CMAKE_MATCH_1}: ")
    elseif(NOT line MATCHES "^\n    \\.(${sizes}) =")
      string(REGEX REPLACE "^\n    \\.|,$" "" line "${line}")
      string(REGEX REPLACE "ladon::([A-Za-z]+::)?|\\.(width|positions) = [0-9]+(, )?" "" line "${line}")
      string(REGEX REPLACE ", }" "}" line "${line}")
      string(REPLACE "position = {}" "position = {.pairing = neighbours}" line "${line}")
      string(APPEND used "`${line}` ")
    endif()
  endforeach()
  string(REGEX REPLACE " (<br>|$)" "\\1" used "${used}")
  string(REGEX REPLACE "^<br>" "" used "${used}")
  set(${out} "| ${name} | ${used} |" PARENT_SCOPE)
endfunction()

# Folders with a text or with another form of files are no families.
set(no_families "/(decode|form)_[^/]*$")
if(NOT RESULTS)
  file(GLOB FOLDERS ${MODELS}/*/config.json)
  list(TRANSFORM FOLDERS REPLACE "/config.json$" "")
  list(FILTER FOLDERS EXCLUDE REGEX ${no_families})
  file(READ ${DOCUMENT} text)
  foreach(folder IN LISTS FOLDERS)
    row(expected ${folder})
    string(FIND "${text}" "\n${expected}" at)
    if(at EQUAL -1)
      message(SEND_ERROR "${DOCUMENT} lacks this row. Run ./dev families --docs FOLDER...\n${expected}")
    endif()
  endforeach()
  return()
endif()

file(READ ${RESULTS} results)
list(FILTER FOLDERS EXCLUDE REGEX ${no_families})
# Sorts the folders by their names.
list(TRANSFORM FOLDERS REPLACE "^.*/([^/]+)$" "\\1:\\0")
list(SORT FOLDERS)
list(TRANSFORM FOLDERS REPLACE "^[^:]+:" "")
set(rows "")
set(whole 0)
set(missing 0)
foreach(folder IN LISTS FOLDERS)
  row(beginning ${folder})
  cmake_path(GET folder FILENAME name)
  if("\n${results}" MATCHES "\n${name} ok ([^ \n]+) ([^ \n]+) ([^ \n]+) ([^ \n]+)")
    math(EXPR whole "${whole} + 1")
    set(errors "${CMAKE_MATCH_1} | ${CMAKE_MATCH_2} | ${CMAKE_MATCH_3} | ${CMAKE_MATCH_4}")
  elseif("\n${results}" MATCHES "\n(${name} wrong[^\n]*)")
    message(FATAL_ERROR "${DOCUMENT} stays as it is: ${CMAKE_MATCH_1}")
  else()
    math(EXPR missing "${missing} + 1")
    set(errors "- | - | - | -")
  endif()
  string(APPEND rows "${beginning} ${errors} |\n")
endforeach()
file(WRITE ${DOCUMENT} "# Families

`./dev families --docs` wrote this page. The page shows which families of transformers Ladon computes, and how exactly.
Tiny models with random weights were made by the classes of transformers 5.24.0 and computed by torch 2.15.0. Ladon
loaded the files that `save_pretrained` writes, and computed each layer and the whole stack.
[tests/families](../tests/families/README.md) describes the comparison.

Of these models, ${whole} match. ${missing} need features that Ladon lacks ([limits.md](limits.md)).

| column | content |
|---|---|
| what is used | the members of `ladon::Model` that differ from the defaults, without sizes. `ladon-weights describe` prints them. For other models, the feature that Ladon lacks |
| float32 | the largest error of all layers and of the stack, relative to the largest hidden value. The bound is 2e-5 |
| token by token | the same for a text that grows by one token at a time, with caches. The bound is 2e-5. Only for causal models |
| bfloat16, int8 | the error of the stack with bfloat16 weights, and with rotated int8 weights. [check.cpp](../tests/families/check.cpp) derives their bounds |

| family | what is used | float32 | token by token | bfloat16 | int8 |
|---|---|---|---|---|---|
${rows}")
