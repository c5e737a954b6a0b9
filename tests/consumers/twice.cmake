# Tests a project that contains Ladon twice. The second copy is left out if the first one can replace it. Otherwise, the
# error names both.
include(${CMAKE_CURRENT_LIST_DIR}/run.cmake)
string(REPLACE "." ";" parts ${LADON_EXPECTED_VERSION})
list(GET parts 0 major)
list(GET parts 1 minor)
math(EXPR next "${minor} + 1")

# expect_configured(<other> <found> <says>): configures the project. The first copy has the version <other>, or the
# version under test if <other> is empty.
function(expect_configured other found says)
  execute_process(
    COMMAND ${CMAKE_COMMAND} -S ${CMAKE_CURRENT_LIST_DIR}/twice -B ${FOLDER} ${SETTINGS} -DOTHER=${other}
    RESULT_VARIABLE status OUTPUT_VARIABLE said ERROR_VARIABLE said)
  if((found AND NOT status EQUAL 0) OR (NOT found AND status EQUAL 0))
    message(FATAL_ERROR "version ${other}: ended with ${status}:\n${said}")
  endif()
  expect("${said}" "${says}")
endfunction()
expect_configured("" 1 "uses the copy in ${LADON_CHECKOUT}, version ${LADON_EXPECTED_VERSION}")
expect_configured(${major}.${minor}.99 1 "uses the copy in /first/ladon, version ${major}.${minor}.99")
expect_configured(${major}.${next}.0 0 "/first/ladon has brought version ${major}.${next}.0")
