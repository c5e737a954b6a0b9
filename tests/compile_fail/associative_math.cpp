// must print: ladon: compile without -fassociative-math (-funsafe-math-optimizations, -ffast-math)
#define __ASSOCIATIVE_MATH__ 1  // -funsafe-math-optimizations of g++ defines this macro
#include <ladon/ladon.hpp>
