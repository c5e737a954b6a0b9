// must print: ladon: the size of this span is not known to the compiler
#include <span>

#include <ladon/ladon.hpp>

using Attention = ladon::MultiHeadAttention<ladon::Shape{.queries = 4, .model = 6, .heads = 2}>;
void run(std::span<const float> x, float* y, const Attention::Weights& weights, Attention::Workspace& workspace) {
  Attention::run(x, weights, y, workspace);
}
