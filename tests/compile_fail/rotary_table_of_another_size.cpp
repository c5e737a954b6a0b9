// message: RotaryTable<9
#include <ladon/ladon.hpp>

using Rotary = ladon::position::Rotary<ladon::Pairing::halves, 4, 8>;
using Attention = ladon::Attention<ladon::Shape{.queries = 5, .model = 8, .heads = 2}, ladon::mask::None,
                                   ladon::score::Scaled, Rotary>;
constexpr auto table = ladon::rotary_table<9, 4>();
Attention::Options options{.position = {.table = &table}};
