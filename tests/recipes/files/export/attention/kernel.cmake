ladon_add_kernel(torch_attention
  QUERIES 6
  MODEL 8
  HEADS 2
  WEIGHTS ${CMAKE_CURRENT_LIST_DIR}/model.safetensors
  CHECK ${CMAKE_CURRENT_LIST_DIR}/sample.safetensors)
