ladon_add_kernel(torch_classifier
  QUERIES 9
  MODEL 8
  HEADS 2
  FEED_FORWARD 12
  ACTIVATION gelu
  NORM pre
  EPSILON 1e-05
  LAYERS 1
  FINAL_NORM
  PREFIX 4.layers
  WEIGHTS ${CMAKE_CURRENT_LIST_DIR}/model.safetensors
  TENSORS 0.weight 0.bias 2.table 6.weight 6.bias
  CHECK ${CMAKE_CURRENT_LIST_DIR}/sample.safetensors)
