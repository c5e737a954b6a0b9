// must print: ladon: compile without -ffinite-math-only
// flag: -ffinite-math-only
#include <ladon/ladon.hpp>
