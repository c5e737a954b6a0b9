// must print: ladon: the array has Given numbers, but the tensor TensorView<T, Extents...> has the product of Extents
// must print: 41 == 40
#include <cstdint>

#include <ladon/ladon.hpp>

using Attention =
    ladon::Attention<ladon::Shape{.queries = 3, .keys = 40, .model = 6, .heads = 2}, ladon::mask::Padding>;
// The mask needs 40 bytes, one for each key, but the array has 41.
extern const std::uint8_t bytes[41];
Attention::Options options{.mask = {.may_see = bytes}};
