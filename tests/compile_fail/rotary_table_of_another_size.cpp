// must print: RotaryTable<9
#include <ladon/ladon.hpp>

using Rotary = ladon::position::Rotary<ladon::Pairing::halves, 4, 8>;
using Attention = ladon::Attention<ladon::Shape{.queries = 5, .model = 8, .heads = 2}, ladon::mask::Unmasked,
                                   ladon::score::Scaled, Rotary>;
// `Rotary` needs a table of 8 positions, but this table has 9.
constexpr auto table = ladon::rotary_table<9, 4>();
Attention::Options options{.position = {.table = &table}};
