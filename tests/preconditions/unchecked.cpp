// tests/CMakeLists.txt compiles this file with LADON_CHECKED=0, and the other files of the program with
// LADON_CHECKED=1. The test beside_unchecked shows that the linker does not replace checked code by unchecked code.
#include "preconditions.hpp"

static_assert(!LADON_CHECKED);

std::size_t ladon_test::unchecked_queries() { return queries_of_too_many(); }
