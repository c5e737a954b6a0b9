// must print: ladon: an option is unknown or misplaced. The options are {.tokens, .queries, .keys, .mask, .sinks,
// must print: .position}, in this order
// most lines: 20
#include <ladon/ladon.hpp>

using Attention = ladon::MultiHeadAttention<ladon::Shape{.queries = 4, .model = 6, .heads = 2}>;
void run(const float* x, const Attention::Weights& weights, Attention::Cache& cache,
         Attention::KeyWorkspace& workspace) {
  Attention::project_keys(x, weights, cache, workspace, {.token = 3});
}
