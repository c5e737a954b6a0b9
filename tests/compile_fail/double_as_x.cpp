// must print: ladon: an array with elements of another type
// most lines: 20
#include <ladon/ladon.hpp>

using Attention = ladon::MultiHeadAttention<ladon::Shape{.queries = 4, .model = 6, .heads = 2}>;
void run(const double* x, float* y, const Attention::Weights& weights, Attention::Workspace& workspace) {
  Attention::run(x, weights, y, workspace);
}
