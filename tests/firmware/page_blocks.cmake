# Reads the blocks of docs/microcontrollers.md that a test uses. Include this file with ROOT set to the source folder.
file(READ ${ROOT}/docs/microcontrollers.md text)

# next_block(<variable> <fence>): sets <variable> to the next code block of `text`. The block follows a line <fence>,
# and the line before <fence> must be an HTML comment that ends with the name of the running script. Removes the text
# before the block from `text`.
cmake_path(GET CMAKE_SCRIPT_MODE_FILE FILENAME reader)
function(next_block out fence)
  set(fence "${reader} -->\n${fence}\n")
  string(FIND "${text}" "${fence}" begin)
  if(begin EQUAL -1)
    message(FATAL_ERROR "docs/microcontrollers.md lacks: ${fence}")
  endif()
  string(LENGTH "${fence}" length)
  math(EXPR begin "${begin} + ${length}")
  string(SUBSTRING "${text}" ${begin} -1 text)
  string(FIND "${text}" "```" end)
  string(SUBSTRING "${text}" 0 ${end} block)
  set(${out} "${block}" PARENT_SCOPE)
  set(text "${text}" PARENT_SCOPE)
endfunction()
