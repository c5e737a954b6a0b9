// must print: ladon: the arguments of run are (x, memory, weights, y, workspace, options, maps)
// most lines: 20
#include <ladon/ladon.hpp>

using Decoder = ladon::DecoderLayer<ladon::Model{.tokens = 4, .memory = 5, .model = 6, .heads = 2, .feed_forward = 8}>;
void run(const float* x, float* y, const Decoder::Weights& weights, Decoder::Workspace& workspace) {
  Decoder::run(x, weights, y, workspace);
}
