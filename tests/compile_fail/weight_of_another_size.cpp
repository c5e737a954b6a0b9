// must print: ladon: the array has Given numbers, but the tensor TensorView<T, Extents...> has the product of Extents
// must print: 90 == 108
#include <array>

#include <ladon/ladon.hpp>

using Attention = ladon::MultiHeadAttention<ladon::Shape{.queries = 4, .model = 6, .heads = 2}>;
// The weight needs 3 * 6 rows of 6 features = 108 floats, but the array has 90.
extern const std::array<float, 3 * 6 * 5> in_proj_weight;
extern const std::array<float, 3 * 6> in_proj_bias;
Attention::Weights weights{.in_proj = {in_proj_weight, in_proj_bias}, .out_proj = {}};
