// must print: ladon: a decoder attends to itself, so it has as many keys as queries. The memory has a separate length.
#include <ladon/ladon.hpp>

using Layer =
    ladon::DecoderLayer<ladon::Model{.tokens = 4, .keys = 5, .memory = 5, .model = 6, .heads = 2, .feed_forward = 3}>;
void run(const float* x, const float* memory, const Layer::Weights& weights, float* y, Layer::Workspace& workspace) {
  Layer::run(x, memory, weights, y, workspace);
}
