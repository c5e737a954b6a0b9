# Defines date_reader_weights: an interface library with the header date_reader_weights.hpp, which the build makes from
# weights.safetensors.
set(date_reader_header ${CMAKE_CURRENT_BINARY_DIR}/date_reader_weights/date_reader_weights.hpp)
add_custom_command(OUTPUT ${date_reader_header}
  COMMAND ${CMAKE_COMMAND} -DWEIGHTS=${CMAKE_CURRENT_LIST_DIR}/weights.safetensors -DHEADER=${date_reader_header}
    -P ${CMAKE_CURRENT_LIST_DIR}/weights_header.cmake
  DEPENDS ${CMAKE_CURRENT_LIST_DIR}/weights.safetensors ${CMAKE_CURRENT_LIST_DIR}/weights_header.cmake
    ${CMAKE_CURRENT_LIST_DIR}/../common/safetensors.cmake VERBATIM
  COMMENT "Weights of the date reader")
add_library(date_reader_weights INTERFACE ${date_reader_header})
target_include_directories(date_reader_weights INTERFACE ${CMAKE_CURRENT_BINARY_DIR}/date_reader_weights)
