// must print: ladon: an encoder attends to itself, so it has as many keys as queries. If keys is the capacity
// must print: 4 == 5
#include <ladon/ladon.hpp>

using Layer = ladon::EncoderLayer<ladon::Model{.tokens = 4, .keys = 5, .model = 6, .heads = 2, .feed_forward = 8}>;
void run(const float* x, const Layer::Weights& weights, float* y, Layer::Workspace& workspace) {
  Layer::run(x, weights, y, workspace);
}
