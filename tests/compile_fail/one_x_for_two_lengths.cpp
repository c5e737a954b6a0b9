// must print: ladon: keys differ from queries in number
#include <ladon/ladon.hpp>

using Attention = ladon::MultiHeadAttention<ladon::Shape{.queries = 4, .keys = 5, .model = 6, .heads = 2}>;
void run(const float* x, float* y, const Attention::Weights& weights, Attention::Workspace& workspace) {
  Attention::run(x, weights, y, workspace);
}
