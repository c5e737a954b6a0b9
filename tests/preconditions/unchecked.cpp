// tests/CMakeLists.txt compiles this file with LADON_CHECKED=0, and all other files of the program with
// LADON_CHECKED=1.
#include "preconditions.hpp"

static_assert(!LADON_CHECKED);

std::size_t ladon_test::unchecked_queries() { return queries_of_too_many(); }
