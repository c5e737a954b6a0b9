// must print: ladon: an option is unknown or misplaced. The options of a decoder are {.self, .memory}
// most lines: 20
#include <ladon/ladon.hpp>

using Layer = ladon::DecoderLayer<ladon::Model{.tokens = 4, .memory = 5, .model = 6, .heads = 2, .feed_forward = 3}>;
void run(const float* x, float* y, const Layer::Weights& weights, Layer::Workspace& workspace) {
  Layer::run(x, x, weights, y, workspace, {.tokens = 3});
}
