// must print: ladon: compile without -ffast-math (-Ofast, /fp:fast)
#define __FAST_MATH__ 1  // -ffast-math defines this macro
#include <ladon/ladon.hpp>
