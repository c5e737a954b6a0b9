# SPDX-License-Identifier: Apache-2.0
# Writes DOCUMENT (docs/families.md): a row for each of FOLDERS, with the description that TOOL (ladon-weights) prints. RESULTS
# has the lines of `./dev families`, and IMPORTED those of `./dev import --check-all`. Without one of them, its columns stay
# as they are. Without both, checks that DOCUMENT has the rows of all folders in MODELS, and that the last column says which
# of them IMPORT_TOOL (ladon-import) imports. The check ignores the errors, because they depend on the machine.

# The members of a Model that are sizes.
set(sizes "layers|tokens|memory|model|heads|kv_heads|head_width|value_width|feed_forward|kind_of_layer")

# Sets `out` to the message of a tool as a cell of a table, without `prefix`, a regular expression.
function(cell_of out message prefix)
  string(REGEX REPLACE "^${prefix}" "" message "${message}")
  string(REGEX REPLACE "\n *" " " message "${message}")
  string(REPLACE "|" "\\|" message "${message}")
  set(${out} "${message}" PARENT_SCOPE)
endfunction()

# Sets `out` to the beginning of a folder's row: its name and what it uses, or what Ladon lacks.
function(row out folder)
  cmake_path(GET folder FILENAME name)
  execute_process(COMMAND ${TOOL} describe ${folder} --tokens 32 OUTPUT_VARIABLE text ERROR_VARIABLE reason
                  RESULT_VARIABLE status OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_STRIP_TRAILING_WHITESPACE)
  if(status)
    cell_of(reason "${reason}" "ladon-weights: .*/config.json: ")
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

# Sets `out` to what Ladon lacks of the whole model, or to "".
function(lack_of_whole out folder)
  execute_process(COMMAND ${IMPORT_TOOL} ${folder} --dry-run --tokens 32 OUTPUT_QUIET ERROR_VARIABLE reason
                  RESULT_VARIABLE status ERROR_STRIP_TRAILING_WHITESPACE)
  set(${out} "" PARENT_SCOPE)
  if(status)
    cell_of(reason "${reason}" "ladon-import: (.*/config.json: )?")
    set(${out} "${reason}" PARENT_SCOPE)
  endif()
endfunction()

# Folders with a text or with another form of files are no families.
set(no_families "/(decode|form)_[^/]*$")
if(NOT RESULTS AND NOT IMPORTED)
  file(GLOB FOLDERS ${MODELS}/*/config.json)
  list(TRANSFORM FOLDERS REPLACE "/config.json$" "")
  list(FILTER FOLDERS EXCLUDE REGEX ${no_families})
  file(READ ${DOCUMENT} text)
  foreach(folder IN LISTS FOLDERS)
    row(expected ${folder})
    string(FIND "${text}" "\n${expected}" at)
    if(at EQUAL -1)
      message(SEND_ERROR "${DOCUMENT} lacks this row. Run ./dev families --docs FOLDER...\n${expected}")
      continue()
    endif()
    cmake_path(GET folder FILENAME name)
    lack_of_whole(lack ${folder})
    string(REGEX MATCH "\n\\| ${name} \\|[^\n]* \\| ([^\n]*) \\|\n" found "${text}")
    if(lack AND NOT found MATCHES " \\| (-|missing: [^|]*) \\|\n$")
      message(SEND_ERROR "${DOCUMENT}: the last column of ${name} is wrong. Run ./dev import --check-all --docs FOLDER...\n${lack}")
    elseif(NOT lack AND NOT found MATCHES " \\| [0-9.]+e-[0-9]+ \\|\n$")
      message(SEND_ERROR "${DOCUMENT}: the whole model ${name} imports. Run ./dev import --check-all --docs FOLDER...")
    endif()
  endforeach()
  return()
endif()

file(READ ${DOCUMENT} before)
foreach(part RESULTS IMPORTED)
  set(${part}_lines "")
  if(${part})
    file(READ ${${part}} ${part}_lines)
    if("\n${${part}_lines}" MATCHES "\n([^\n]+ wrong[^\n]*)")
      message(FATAL_ERROR "${DOCUMENT} stays as it is: ${CMAKE_MATCH_1}")
    endif()
  endif()
endforeach()
list(FILTER FOLDERS EXCLUDE REGEX ${no_families})
# Sorts the folders by their names.
list(TRANSFORM FOLDERS REPLACE "^.*/([^/]+)$" "\\1:\\0")
list(SORT FOLDERS)
list(TRANSFORM FOLDERS REPLACE "^[^:]+:" "")
set(rows "")
set(matching 0)
set(missing 0)
set(whole 0)
set(cell " \\| ([^|\n]*)")
foreach(folder IN LISTS FOLDERS)
  row(beginning ${folder})
  cmake_path(GET folder FILENAME name)
  set(errors "- | - | - | -")
  set(answer "-")
  # The row as it is now. The page may not have it yet, nor the column of the whole model.
  if("${before}" MATCHES "\n\\| ${name} \\| [^\n]*${cell}${cell}${cell}${cell}${cell} \\|\n")
    set(errors "${CMAKE_MATCH_1} | ${CMAKE_MATCH_2} | ${CMAKE_MATCH_3} | ${CMAKE_MATCH_4}")
    set(answer "${CMAKE_MATCH_5}")
  endif()
  if(RESULTS)
    set(errors "- | - | - | -")
    if("\n${RESULTS_lines}" MATCHES "\n${name} ok ([^ \n]+) ([^ \n]+) ([^ \n]+) ([^ \n]+)")
      set(errors "${CMAKE_MATCH_1} | ${CMAKE_MATCH_2} | ${CMAKE_MATCH_3} | ${CMAKE_MATCH_4}")
    endif()
  endif()
  if(IMPORTED)
    set(answer "-")
    if("\n${IMPORTED_lines}" MATCHES "\n${name} ok ([^ \n]+)")
      set(answer "${CMAKE_MATCH_1}")
    elseif(NOT beginning MATCHES "\\| missing: " AND "\n${IMPORTED_lines}" MATCHES "\n${name} missing ([^\n]+)")
      string(REPLACE "|" "\\|" answer "missing: ${CMAKE_MATCH_1}")
    endif()
  endif()
  if(errors MATCHES "^-")
    math(EXPR missing "${missing} + 1")
  else()
    math(EXPR matching "${matching} + 1")
  endif()
  if(answer MATCHES "^[0-9]")
    math(EXPR whole "${whole} + 1")
  endif()
  string(APPEND rows "${beginning} ${errors} | ${answer} |\n")
endforeach()
file(WRITE ${DOCUMENT} "# Families

`./dev families --docs` wrote this page. The page shows which families of transformers Ladon computes, and how exactly.
Tiny models with random weights were made by the classes of transformers 5.24.0 and computed by torch 2.15.0. Ladon
loaded the files that `save_pretrained` writes, and computed each layer and the whole stack.
[tests/families](../tests/families/README.md) describes the comparison.

Of these models, the layers of ${matching} match. ${missing} need features that Ladon lacks ([limits.md](limits.md)).
`ladon-import` translates ${whole} of the models as a whole, and the results of these programs match, too.

| column | content |
|---|---|
| what is used | the members of `ladon::Model` that differ from the defaults, without sizes. `ladon-weights describe` prints them. For other models, the feature that Ladon lacks |
| float32 | the largest error of all layers and of the stack, relative to the largest hidden value. The bound is 2e-5 |
| token by token | the same for a text that grows by one token at a time, with caches. The bound is 2e-5. Only for causal models |
| bfloat16, int8 | the error of the stack with bfloat16 weights, and with rotated int8 weights. [check.cpp](../tests/families/check.cpp) derives their bounds |
| whole model | the error of the program that `ladon-import` writes ([import.md](import.md)), which computes the model from token ids, pixels or samples to the last hidden state, the pooler and the head, in float32. The bound is 2e-5. `./dev import --check-all --docs` writes this column |

| family | what is used | float32 | token by token | bfloat16 | int8 | whole model |
|---|---|---|---|---|---|---|
${rows}")
