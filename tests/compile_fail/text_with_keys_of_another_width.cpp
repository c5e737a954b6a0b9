// must print: ladon: a text attends to itself, so keys and values come from tokens as wide as the model
#include <ladon/ladon.hpp>

using Attention =
    ladon::MultiHeadAttention<ladon::Shape{.queries = 1, .keys = 8, .model = 6, .heads = 1, .key_model = 4},
                              ladon::mask::Causal, ladon::layout::SeparateQKV>;
void step(const float* x, Attention::Cache& cache, const Attention::Weights& weights, float* y,
          Attention::CachedWorkspace& workspace) {
  Attention::extend(x, cache, weights, y, workspace);
}
