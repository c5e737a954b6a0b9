# Adds the tests of fetch_model. LADON_SHARED_DIR is the folder that has models/kwt1.
find_program(LADON_PYTHON3 python3)
mark_as_advanced(LADON_PYTHON3)
if(LADON_PYTHON3)
  foreach(tests IN ITEMS Failures Results)
    string(TOLOWER keywords.fetch_model.${tests} name)
    add_test(NAME ${name} COMMAND ${LADON_PYTHON3} -B ${CMAKE_CURRENT_LIST_DIR}/test_fetch_model.py
      --shared ${LADON_SHARED_DIR} ${tests})
    set_tests_properties(${name} PROPERTIES SKIP_REGULAR_EXPRESSION "skipped: ")
  endforeach()
else()
  add_test(NAME keywords.fetch_model COMMAND ${CMAKE_COMMAND} -E echo "skipped: there is no python3")
  set_tests_properties(keywords.fetch_model PROPERTIES SKIP_REGULAR_EXPRESSION "^skipped: ")
endif()
