# Sets int8_same_bits and int4_same_bits to the arguments of kernels whose results must have equal bits on all targets. Two
# tests build these kernels: tests/c_kernel natively, the int8 kernel for each instruction set of DISPATCH, and
# tests/wasm/modules as three WebAssembly modules. The hash of the results must always be the one in digest.txt or
# int4_digest.txt. The rows of the int4 kernel have several groups of 32 weights, and the last group has fewer.
set(int8_same_bits QUERIES 21 MODEL 12 HEADS 2 MASK causal FEED_FORWARD 18 ACTIVATION gelu LAYERS 2
  PRECISION int8 ACTIVATION_BITS 7 DETERMINISTIC)
set(int4_same_bits QUERIES 21 MODEL 40 HEADS 2 MASK causal FEED_FORWARD 72 ACTIVATION gelu LAYERS 2
  PRECISION int4 ROTATED ACTIVATION_BITS 7 DETERMINISTIC)
set(int4_same_bits_digest ${CMAKE_CURRENT_LIST_DIR}/int4_digest.txt)
set(int8_same_bits_digest ${CMAKE_CURRENT_LIST_DIR}/digest.txt)
