# Sets int8_same_bits to the arguments of a kernel whose results must have equal bits on all targets. Two tests build
# this kernel: tests/c_kernel natively, for each instruction set of DISPATCH, and tests/wasm/modules as three
# WebAssembly modules. The hash of the results must always be the one in digest.txt.
set(int8_same_bits QUERIES 21 MODEL 12 HEADS 2 MASK causal FEED_FORWARD 18 ACTIVATION gelu LAYERS 2
  PRECISION int8 ACTIVATION_BITS 7 DETERMINISTIC)
set(int8_same_bits_digest ${CMAKE_CURRENT_LIST_DIR}/digest.txt)
