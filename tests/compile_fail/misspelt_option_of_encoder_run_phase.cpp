// must print: ladon: an option is unknown or misplaced. The options are {.tokens, .queries, .keys, .mask, .sinks,
// must print: .position}, in this order
// most lines: 20
#include <ladon/ladon.hpp>

using Layer = ladon::Encoder<ladon::Model{.layers = 2, .tokens = 4, .model = 6, .heads = 2, .feed_forward = 3}>;
void run(const float* x, float* y, const Layer::Weights& weights, Layer::TeamWorkspace<2>& workspace) {
  Layer::run(x, weights, y, workspace.part(0, {}), {.token = 3});
}
