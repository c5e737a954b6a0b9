// must print: ladon: an option is unknown or misplaced. The options are {.tokens, .queries, .keys, .mask, .sinks,
// must print: .position}, in this order
// most lines: 20
#include <ladon/ladon.hpp>

using Attention = ladon::MultiHeadAttention<ladon::Shape{.queries = 4, .model = 6, .heads = 2}>;
void run(const float* x, float* y, const Attention::Weights& weights, Attention::TeamWorkspace<2>& workspace) {
  Attention::run(x, weights, y, workspace.part(0, {}), {.token = 3});
}
