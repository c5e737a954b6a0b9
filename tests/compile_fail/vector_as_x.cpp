// must print: ladon: the size of a container such as std::vector is not known to the compiler: give v.data(), or
// must print: std::span(v).first<N>()
// most lines: 20
#include <vector>

#include <ladon/ladon.hpp>

using Attention = ladon::MultiHeadAttention<ladon::Shape{.queries = 4, .model = 6, .heads = 2}>;
void run(const std::vector<float>& x, float* y, const Attention::Weights& weights, Attention::Workspace& workspace) {
  Attention::run(x, weights, y, workspace);
}
