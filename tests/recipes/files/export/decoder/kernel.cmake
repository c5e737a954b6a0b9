ladon_add_kernel(torch_decoder
  QUERIES 5
  MODEL 8
  HEADS 4
  FEED_FORWARD 12
  ACTIVATION relu
  NORM post
  EPSILON 1e-05
  LAYERS 1
  PREFIX layers
  MEMORY 7
  MASK causal
  WEIGHTS ${CMAKE_CURRENT_LIST_DIR}/model.safetensors
  CHECK ${CMAKE_CURRENT_LIST_DIR}/sample.safetensors)
