// must print: ladon: an encoder attends to itself, so it has as many keys as queries. If keys is the capacity
// must print: 4 == 5
#include <ladon/ladon.hpp>

using Stack =
    ladon::Encoder<ladon::Model{.layers = 2, .tokens = 4, .keys = 5, .model = 6, .heads = 2, .feed_forward = 8}>;
void run(const float* x, const Stack::Weights& weights, float* y, Stack::Workspace& workspace) {
  Stack::run(x, weights, y, workspace);
}
