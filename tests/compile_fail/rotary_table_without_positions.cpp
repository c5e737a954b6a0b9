// must print: ladon: a rotary table needs at least one position
// must print: RotaryTable<0, 4>
#include <ladon/ladon.hpp>

ladon::RotaryTable<0, 4> table;
