// must print: ladon: the array has Given numbers, but the tensor TensorView<T, Extents...> has the product of Extents
// must print: 30 == 24
#include <ladon/ladon.hpp>

using Attention = ladon::MultiHeadAttention<ladon::Shape{.queries = 4, .model = 6, .heads = 2}>;
// y needs 4 tokens * 6 features = 24 floats, but the array has 30.
void run(const float* x, float (&y)[5][6], const Attention::Weights& weights, Attention::Workspace& workspace) {
  Attention::run(x, weights, y, workspace);
}
