# read_safetensors_header(<json> <data> <file>): sets <json> to the header of a safetensors file, which describes the
# tensors, and <data> to the position of the first tensor. The file consists of 8 bytes with the length of the header,
# the header in JSON, and the tensors.
function(read_safetensors_header json data file)
  file(READ ${file} length LIMIT 8 HEX)
  string(REGEX MATCHALL ".." length "${length}")
  list(REVERSE length) # little-endian
  list(JOIN length "" length)
  math(EXPR length "0x${length}")
  file(READ ${file} header OFFSET 8 LIMIT ${length})
  math(EXPR position "8 + ${length}")
  set(${json} "${header}" PARENT_SCOPE)
  set(${data} ${position} PARENT_SCOPE)
endfunction()
