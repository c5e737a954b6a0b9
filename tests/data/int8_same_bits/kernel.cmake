# Sets int8_same_bits to the arguments of a kernel whose results have equal bits on all targets. tests/c_kernel builds
# the kernel natively, for each instruction set of DISPATCH. tests/wasm/modules builds the three modules of the kernel.
# The results of each build must have the digest in digest.txt.
set(int8_same_bits QUERIES 21 MODEL 12 HEADS 2 MASK causal FEED_FORWARD 18 ACTIVATION gelu LAYERS 2
  PRECISION int8 ACTIVATION_BITS 7 DETERMINISTIC)
set(int8_same_bits_digest ${CMAKE_CURRENT_LIST_DIR}/digest.txt)
