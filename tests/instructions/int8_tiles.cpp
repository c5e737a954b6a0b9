// Instantiates products of int8 weights. The test tile_loops checks the loops in the object code of this file.
#include <ladon/ladon.hpp>

namespace {

constexpr ladon::Shape usual{.queries = 128, .model = 384, .heads = 12};
constexpr ladon::Shape few_beyond_pack{.queries = 24, .model = 384, .heads = 12};
using Int8 = ladon::layout::Int8<ladon::layout::InProj>;
using Layer = ladon::EncoderLayer<ladon::Model{.feed_forward = 1536, .activation = ladon::Activation::gelu}.with(usual),
                                  ladon::mask::Unmasked, Int8>;

template <class Block>
void run_block(const float* x, const void* weights, float* y, void* workspace) {
  Block::run(x, *static_cast<const typename Block::Weights*>(weights), y,
             *static_cast<typename Block::Workspace*>(workspace));
}

}  // namespace

void run(const float* x, const void* weights, float* y, void* workspace) {
  run_block<Layer>(x, weights, y, workspace);
  run_block<ladon::MultiHeadAttention<few_beyond_pack, ladon::mask::Unmasked, Int8>>(x, weights, y, workspace);
}
