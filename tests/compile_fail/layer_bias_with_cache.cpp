// must print: ladon: Model::layer_bias has a row for each token of a run, so it excludes extend
#include <ladon/ladon.hpp>

constexpr ladon::Model model{.tokens = 5, .model = 6, .heads = 2, .feed_forward = 7, .layer_bias = true};
using Layer = ladon::EncoderLayer<model>;
void extend(const float* x, Layer::Cache& cache, const Layer::Weights& weights, float* y,
            Layer::CachedWorkspace& workspace) {
  Layer::extend(x, cache, weights, y, workspace);
}
