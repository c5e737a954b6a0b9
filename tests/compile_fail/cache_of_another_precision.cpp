// must print: ladon: the arguments of extend are (x, cache, weights, y, cached workspace, options, map), in this order
// must print: another type
#include <ladon/ladon.hpp>

using Attention = ladon::MultiHeadAttention<ladon::Shape{
    .queries = 1, .keys = 9, .model = 6, .heads = 1, .cache_precision = ladon::CachePrecision::int8}>;
using Float = ladon::MultiHeadAttention<ladon::Shape{.queries = 1, .keys = 9, .model = 6, .heads = 1}>;
void extend(const float* x, Float::Cache& cache, const Attention::Weights& weights, float* y,
            Attention::CachedWorkspace& workspace) {
  Attention::extend(x, cache, weights, y, workspace);
}
