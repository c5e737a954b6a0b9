// must print: ladon: the array has Given numbers, but the tensor TensorView<T, Extents...> has the product of Extents
// must print: 123 == 120
#include <cstdint>

#include <ladon/ladon.hpp>

using Attention =
    ladon::Attention<ladon::Shape{.queries = 3, .keys = 40, .model = 6, .heads = 2}, ladon::mask::Additive>;
// The mask needs 3 queries * 40 keys = 120 values, but the array has 123.
extern const float values[3 * 41];
Attention::Options options{.mask = {.values = values}};
