// must print: ladon: the cache is too small: it must hold the window and the tokens of one call
// must print: Shape{5, 9, 6, 2,
// must print: Window<5
#include <ladon/ladon.hpp>

using Attention =
    ladon::MultiHeadAttention<ladon::Shape{.queries = 5, .keys = 9, .model = 6, .heads = 2}, ladon::mask::Window<5>>;
void extend(const float* x, Attention::Cache& cache, const Attention::Weights& weights, float* y,
            Attention::CachedWorkspace& workspace) {
  Attention::extend(x, cache, weights, y, workspace);
}
