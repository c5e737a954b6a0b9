# ladon_code_of_page(<file> <page> <name>): copies a block of code from a Markdown page to <file>. The block follows the
# line <!-- <name> -->. If the block has not changed, <file> is not written again.
function(ladon_code_of_page file page name)
  file(READ ${page} text)
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${page})
  string(FIND "${text}" "<!-- ${name} -->\n```" begin)
  if(begin EQUAL -1)
    message(FATAL_ERROR "${page} has no code called ${name}")
  endif()
  string(SUBSTRING "${text}" ${begin} -1 text)
  string(FIND "${text}" "```" begin)
  string(SUBSTRING "${text}" ${begin} -1 text)
  string(FIND "${text}" "\n" begin) # the end of the line with the language
  math(EXPR begin "${begin} + 1")
  string(SUBSTRING "${text}" ${begin} -1 text)
  string(FIND "${text}" "```" end)
  string(SUBSTRING "${text}" 0 ${end} text)
  file(CONFIGURE OUTPUT ${file} CONTENT "${text}" @ONLY)
endfunction()
