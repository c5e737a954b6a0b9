// message: ladon: an array of Given numbers where the shape asks for Extents of them
// says: 120 == 240
#include <cstdint>

#include <ladon/ladon.hpp>

using Attention =
    ladon::Attention<ladon::Shape{.queries = 3, .keys = 40, .model = 6, .heads = 2}, ladon::mask::BooleanPerHead>;
extern const std::uint8_t bytes[3][40];
Attention::Options options{.mask = {.may_see = bytes}};
