# Builds the keyword spotter of examples/keywords with its weights in flash.
include(tensors.cmake)
enable_language(ASM)
ladon_need_kissfft()

add_library(keywords_front_end STATIC ../keywords/embed.cpp ../keywords/fft.cpp ../keywords/front_end.cpp)
target_include_directories(keywords_front_end PUBLIC ../keywords)
target_include_directories(keywords_front_end SYSTEM PRIVATE ${LADON_KISSFFT_DIR})
target_link_libraries(keywords_front_end PUBLIC ladon::ladon board)

set(keywords_weights ${LADON_KEYWORDS_DIR}/kwt1.safetensors)
put_tensors(${CMAKE_CURRENT_BINARY_DIR}/kwt1_tensors.S ${keywords_weights} kwt1
  class_token=64 position=6336 embed.weight=2560 embed.bias=64 head.weight=768 head.bias=12)

# The argument WEIGHTS stores the tensors of the checkpoint in the library of the kernel. For this purpose, the program
# ladon-weights runs on the build machine. For int8, ladon-weights also quantises the weights.
foreach(precision float32 int8)
  # The arguments of ladon_add_kernel must agree with the shape and the configuration in ../keywords/model.hpp.
  ladon_add_kernel(kwt1_${precision} QUERIES 99 MODEL 64 HEADS 1 FEED_FORWARD 256 LAYERS 12 ACTIVATION gelu_tanh
    EPSILON 1e-6 BIAS output CAPTURE none PRECISION ${precision} WEIGHTS ${keywords_weights} PREFIX layers)
  set(program keywords)
  if(precision STREQUAL "int8")
    set(program keywords_int8)
  endif()
  set_target_properties(kwt1_${precision} PROPERTIES EXCLUDE_FROM_ALL TRUE)
  add_executable(${program} keywords.cpp wav.cpp ${CMAKE_CURRENT_BINARY_DIR}/kwt1_tensors.S)
  target_link_libraries(${program} PRIVATE keywords_front_end kwt1_${precision} m)
  if(NOT PROJECT_IS_TOP_LEVEL) # the tests build only some of the programs
    set_target_properties(${program} PROPERTIES EXCLUDE_FROM_ALL TRUE)
  endif()
  list(APPEND programs ${program})
endforeach()
target_compile_definitions(keywords_int8 PRIVATE KEYWORDS_INT8)
