# cmake -DINCLUDE=<folder> -DLAYERS=<file> -P check.cmake
#
# Checks the headers in the folder (include/ladon) against the layers that the file lists (layers.cmake):
#
#   1. Each header belongs to exactly one layer.
#   2. A header includes headers of Ladon from its own layer and from lower layers only. Includes have no cycle.
#   3. No header outside detail/ opens the namespace detail, simd, assembly or target.
#   4. No header outside isa_folders and isa_exempt names an instruction set, except in comments and string literals.
#
# Prints every broken rule, then fails.
cmake_minimum_required(VERSION 3.25)
include(${LAYERS})

set(errors "")
function(broken text)
  string(APPEND errors "\n  ${text}")
  set(errors "${errors}" PARENT_SCOPE)
endfunction()

# read_code(<variable> <file>): sets <variable> to the code of the header <file>, without comments. The script empties
# string literals, except in #include lines.
function(read_code out file)
  file(READ ${file} text)
  string(REPLACE "'\"'" "' '" text "${text}")
  string(REGEX REPLACE "//[^\n]*" "" text "${text}")
  string(REGEX REPLACE "/\\*([^*]|\\*+[^*/])*\\*+/" "" text "${text}")
  string(REGEX REPLACE "(#[ \t]*include[ \t]*)\"([^\"\n]*)\"" "\\1'\\2'" text "${text}")
  string(REGEX REPLACE "\"([^\"\\\n]|\\\\.)*\"" "\"\"" text "${text}")
  set(${out} "\n${text}\n" PARENT_SCOPE)
endfunction()

# Rule 1: finds the layer of each header. layer_of_<header> is the number of the layer. If several entries of `layers`
# contain a header, the longest entry counts: the header itself, or else the deepest folder.
file(GLOB_RECURSE headers RELATIVE ${INCLUDE} ${INCLUDE}/*.hpp)
list(SORT headers)
if(NOT headers)
  message(FATAL_ERROR "${INCLUDE} has no headers")
endif()
set(used "")
foreach(header IN LISTS headers)
  set(depth -1) # the length of the entry that matches best
  set(places "")
  set(number 0)
  foreach(layer IN LISTS layers)
    separate_arguments(entries UNIX_COMMAND "${layer}")
    foreach(entry IN LISTS entries)
      string(LENGTH ${entry} length)
      string(FIND ${header} ${entry} found)
      if(NOT found EQUAL 0 OR (NOT entry MATCHES "/$" AND NOT entry STREQUAL header))
        continue()
      endif()
      list(APPEND used ${entry})
      if(length GREATER depth)
        set(depth ${length})
        set(places "")
      endif()
      if(length EQUAL depth)
        list(APPEND places ${number})
      endif()
    endforeach()
    math(EXPR number "${number} + 1")
  endforeach()
  list(LENGTH places count)
  if(NOT count EQUAL 1)
    broken("${header} belongs to ${count} layers instead of one")
    list(APPEND places -1)
  endif()
  list(GET places 0 layer_of_${header})
endforeach()
foreach(layer IN LISTS layers)
  separate_arguments(entries UNIX_COMMAND "${layer}")
  foreach(entry IN LISTS entries)
    if(NOT entry IN_LIST used AND NOT entry IN_LIST may_be_empty)
      broken("the layers list ${entry}, which has no header")
    endif()
  endforeach()
endforeach()

foreach(header IN LISTS headers)
  read_code(code ${INCLUDE}/${header})

  # Rule 2: checks that each include leads to a header of the same or of a lower layer. open_<header> lists the included
  # headers of the same layer, in which the loop at the end of this file searches for cycles.
  set(open_${header} "")
  string(REGEX MATCHALL "\n[ \t]*#[ \t]*include[ \t]*'[^'\n]*'" quoted "${code}")
  if(quoted)
    broken("${header} includes a file in quotation marks; write <ladon/...>")
  endif()
  string(REGEX MATCHALL "\n[ \t]*#[ \t]*include[ \t]*<ladon/[^>\n]*>" includes "${code}")
  foreach(include IN LISTS includes)
    string(REGEX REPLACE ".*<ladon/([^>]*)>" "\\1" included "${include}")
    if(NOT included IN_LIST headers)
      broken("${header} includes ${included}, which does not exist")
    elseif(layer_of_${included} GREATER layer_of_${header})
      broken("${header} includes ${included} from a higher layer")
    elseif(layer_of_${included} EQUAL layer_of_${header})
      list(APPEND open_${header} ${included})
    endif()
  endforeach()

  # Rule 3: checks the namespaces that a header outside detail/ opens.
  if(NOT header MATCHES "^detail/")
    string(REGEX MATCHALL "[^A-Za-z0-9_]namespace[ \t\n]+[A-Za-z0-9_: \t\n]*{" opened "${code}")
    foreach(namespace IN LISTS opened)
      string(REGEX MATCHALL "[A-Za-z0-9_]+" names "${namespace}")
      foreach(internal IN ITEMS detail simd assembly target)
        if(internal IN_LIST names)
          broken("${header} opens the namespace ${internal}")
        endif()
      endforeach()
    endforeach()
  endif()

  # Rule 4: searches for names of instruction sets: macros of compilers, intrinsics, and words of a name, such as avx2
  # in has_avx2.
  set(may_name_isa FALSE)
  foreach(folder IN LISTS isa_folders)
    string(FIND ${header} ${folder} found)
    if(found EQUAL 0)
      set(may_name_isa TRUE)
    endif()
  endforeach()
  if(NOT may_name_isa)
    string(REGEX MATCHALL
      "[^A-Za-z0-9_](__(AVX|SSE|SSSE|FMA__|F16C|ARM|wasm|x86_64|i386|aarch64|arm|thumb|riscv)[A-Za-z0-9_]*|_M_(X64|IX86|ARM)[A-Z0-9]*|_mm[0-9]*_[a-z0-9_]*)"
      macros "${code}")
    string(REGEX MATCHALL
      "[^A-Za-z0-9](avx|AVX|sse|SSE|ssse|SSSE|fma3|fma4|neon|NEON|helium|mve|MVE|wasm|x86|aarch64|armv)[0-9]*[^A-Za-z0-9]"
      words "${code}")
    if(macros OR words)
      if(NOT header IN_LIST isa_exempt)
        string(REGEX MATCHALL "[A-Za-z0-9_]+" names "${macros}")
        string(REGEX MATCHALL "[A-Za-z0-9]+" words "${words}")
        list(APPEND names ${words})
        list(REMOVE_DUPLICATES names)
        list(JOIN names ", " names)
        broken("${header} names an instruction set: ${names}")
      endif()
    elseif(header IN_LIST isa_exempt)
      broken("${header} names no instruction set any more: take it out of isa_exempt")
    endif()
  endif()
endforeach()
foreach(header IN LISTS isa_exempt)
  if(NOT header IN_LIST headers)
    broken("isa_exempt lists ${header}, which does not exist")
  endif()
endforeach()

# Searches for cycles (rule 2). The loop takes a header out of `waiting` when no header in open_<header> is in
# `waiting`. When no header can be taken out any more, the headers that remain contain a cycle.
set(waiting ${headers})
set(closed TRUE)
while(closed)
  set(closed FALSE)
  foreach(header IN LISTS waiting)
    set(blocked FALSE)
    foreach(included IN LISTS open_${header})
      if(included IN_LIST waiting)
        set(blocked TRUE)
        break()
      endif()
    endforeach()
    if(NOT blocked)
      list(REMOVE_ITEM waiting ${header})
      set(closed TRUE)
    endif()
  endforeach()
endwhile()
if(waiting)
  list(JOIN waiting ", " waiting)
  broken("a cycle of includes is among ${waiting}")
endif()

if(errors)
  message(FATAL_ERROR "the headers in ${INCLUDE} break the order of includes:${errors}")
endif()
list(LENGTH headers count)
message("${count} headers are in order")
