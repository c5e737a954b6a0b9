// Instantiates products of bfloat16 weights and bfloat16 inputs. The test tile_loops checks the loops in the object
// code of this file.
#include <ladon/ladon.hpp>

namespace {

constexpr ladon::Shape usual{.queries = 128, .model = 384, .heads = 12};
using Layer = ladon::EncoderLayer<ladon::Model{.feed_forward = 1536, .activation = ladon::Activation::gelu}.with(usual),
                                  ladon::mask::Unmasked, ladon::layout::BFloat16<ladon::layout::InProj>>;

}  // namespace

void run(const float* x, const void* weights, float* y, void* workspace) {
  Layer::run(x, *static_cast<const Layer::Weights*>(weights), y, *static_cast<Layer::Workspace*>(workspace));
}
