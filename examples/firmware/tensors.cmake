# Tensors of a safetensors file as constants of a program.

# put_tensors(<source> <file> <prefix> <tensor>=<elements>...): writes an assembler source that defines <prefix>_<tensor>
# for each tensor, with _ in place of a dot. The file consists of 8 bytes with the length of a JSON text, the text, and
# the data.
function(put_tensors source file prefix)
  file(READ ${file} length LIMIT 8 HEX)
  string(REGEX MATCHALL ".." length "${length}")
  list(REVERSE length) # little-endian
  list(JOIN length "" length)
  math(EXPR length "0x${length}")
  file(READ ${file} header OFFSET 8 LIMIT ${length})
  set(text "")
  foreach(argument IN LISTS ARGN)
    string(REGEX MATCH "^(.*)=(.*)$" argument "${argument}")
    set(tensor ${CMAKE_MATCH_1})
    math(EXPR expected "4 * ${CMAKE_MATCH_2}")
    string(JSON type ERROR_VARIABLE error GET "${header}" ${tensor} dtype)
    if(error OR NOT type STREQUAL "F32")
      message(FATAL_ERROR "${file} has no tensor ${tensor} of dtype F32: ${error}")
    endif()
    string(JSON begin GET "${header}" ${tensor} data_offsets 0)
    string(JSON end GET "${header}" ${tensor} data_offsets 1)
    math(EXPR size "${end} - ${begin}")
    if(NOT size EQUAL expected)
      message(FATAL_ERROR "${file}: tensor ${tensor} has ${size} bytes, and ${expected} are expected")
    endif()
    math(EXPR begin "8 + ${length} + ${begin}")
    string(REPLACE "." "_" symbol ${prefix}_${tensor})
    string(APPEND text ".section .rodata.${symbol}_stored_data,\"a\"\n.balign 4\n.globl ${symbol}\n${symbol}:\n"
      ".incbin \"${file}\", ${begin}, ${size}\n")
  endforeach()
  file(CONFIGURE OUTPUT ${source} CONTENT "${text}" @ONLY)
  set_source_files_properties(${source} PROPERTIES OBJECT_DEPENDS ${file})
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${file})
endfunction()
