// must print: ladon: the array has Given numbers, but the tensor TensorView<T, Extents...> has the product of Extents
// must print: 120 == 240
#include <cstdint>

#include <ladon/ladon.hpp>

using Attention =
    ladon::Attention<ladon::Shape{.queries = 3, .keys = 40, .model = 6, .heads = 2}, ladon::mask::BooleanPerHead>;
// The mask needs 2 heads * 3 queries * 40 keys = 240 bytes, but the array has 120.
extern const std::uint8_t bytes[3][40];
Attention::Options options{.mask = {.may_see = bytes}};
