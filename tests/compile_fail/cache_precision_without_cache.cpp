// must print: ladon: attention without projections has no cache, so it takes no cache_precision
// must print: CachePrecision
#include <ladon/ladon.hpp>

using Attention = ladon::Attention<ladon::Shape{
    .queries = 4, .model = 6, .heads = 1, .cache_precision = ladon::CachePrecision::bfloat16}>;
void run(const float* q, float* out, Attention::Workspace& workspace) { Attention::run(q, q, q, out, workspace); }
