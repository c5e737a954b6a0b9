# ladon_code_of_page(<file> <page> <name>): writes a file with the block of code that follows the line <!-- NAME --> of
# a Markdown page. The file changes only if the code changes.
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
