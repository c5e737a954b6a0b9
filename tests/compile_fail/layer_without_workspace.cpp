// must print: ladon: the arguments of run are (x, weights, y, workspace, options, map)
// most lines: 20
#include <ladon/ladon.hpp>

using Layer = ladon::EncoderLayer<ladon::Model{.tokens = 4, .model = 6, .heads = 2, .feed_forward = 8}>;
void run(const float* x, float* y, const Layer::Weights& weights) { Layer::run(x, weights, y); }
