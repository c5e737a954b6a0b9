// must print: ladon: the array has Given numbers, but the tensor TensorView<T, Extents...> has the product of Extents
// must print: 3 == 2
#include <cstdint>

#include <ladon/ladon.hpp>

using Attention = ladon::Attention<ladon::Shape{.queries = 3, .keys = 40, .model = 6, .heads = 2}, ladon::mask::Alibi>;
// A slope for each of the 2 heads is needed, but the array has 3 elements.
extern const float slopes[3];
Attention::Options options{.mask = {.slopes = slopes}};
