// must print: ladon: a model with kinds of layers has its windows in the kinds, not in the mask
#include <ladon/ladon.hpp>

constexpr ladon::Model model{.layers = 3,
                             .tokens = 5,
                             .model = 6,
                             .heads = 2,
                             .feed_forward = 7,
                             .mask = {.causal = true, .left = 3},
                             .kinds = {{.window = 2}, {}}};
using Encoder = ladon::Encoder<model>;
void run(const float* x, const Encoder::Weights& weights, float* y, Encoder::Workspace& workspace) {
  Encoder::run(x, weights, y, workspace);
}
