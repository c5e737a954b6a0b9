// message: ladon: compile without -ffast-math
#define __FAST_MATH__ 1  // what -ffast-math defines
#include <ladon/ladon.hpp>
