// must print: ladon: the call writes this array, so the array must not be const
// most lines: 20
#include <ladon/ladon.hpp>

using Attention = ladon::MultiHeadAttention<ladon::Shape{.queries = 4, .model = 6, .heads = 2}>;
void run(const float* x, const float* y, const Attention::Weights& weights, Attention::Workspace& workspace) {
  Attention::run(x, weights, y, workspace);
}
