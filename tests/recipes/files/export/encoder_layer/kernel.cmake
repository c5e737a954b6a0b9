ladon_add_kernel(torch_encoder_layer
  QUERIES 5
  MODEL 8
  HEADS 2
  FEED_FORWARD 12
  ACTIVATION relu
  NORM post
  EPSILON 1e-05
  LAYERS 1
  FEED_FORWARD_BIAS without
  NORM_BIAS without
  BIAS none
  PREFIX layers
  MASK padding
  WEIGHTS ${CMAKE_CURRENT_LIST_DIR}/model.safetensors
  CHECK ${CMAKE_CURRENT_LIST_DIR}/sample.safetensors)
