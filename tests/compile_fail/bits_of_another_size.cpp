// must print: ladon: the array has Given numbers, but the tensor TensorView<T, Extents...> has the product of Extents
// must print: 3 == 6
#include <cstdint>

#include <ladon/ladon.hpp>

using Attention = ladon::Attention<ladon::Shape{.queries = 3, .keys = 40, .model = 6, .heads = 2}, ladon::mask::Bits>;
// The mask needs 3 queries * 2 words of 32 keys = 6 words, but the array has 3.
extern const std::uint32_t bits[3][1];
Attention::Options options{.mask = {.bits = bits}};
