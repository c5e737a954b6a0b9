// must print: ladon: the arguments of run are (x, weights, y, workspace, options, map)
// must print: in this order: an argument is missing, in another place or of another type
// most lines: 20
#include <ladon/ladon.hpp>

using Attention = ladon::MultiHeadAttention<ladon::Shape{.queries = 4, .model = 6, .heads = 2}>;
void run(const float* x, float* y, const Attention::Weights& weights, Attention::Workspace& workspace) {
  Attention::run(weights, x, y, workspace);
}
