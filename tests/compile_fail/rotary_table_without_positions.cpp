// message: ladon: a rotary table needs at least one position
// says: RotaryTable<0, 4>
#include <ladon/ladon.hpp>

ladon::RotaryTable<0, 4> table;
