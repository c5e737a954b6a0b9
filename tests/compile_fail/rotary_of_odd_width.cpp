// must print: ladon: rotary embedding turns pairs, so its width is even and not 0
// must print: RotaryTable<8, 3>
#include <ladon/ladon.hpp>

constexpr auto table = ladon::rotary_table<8, 3>();
