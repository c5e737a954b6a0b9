// tests/CMakeLists.txt compiles this file with LADON_CHECKED=0, and the other files of the program with
// LADON_CHECKED=1. Checked and unchecked files contain the same functions of Ladon. The test beside_unchecked shows
// that the linker does not replace the checked functions by the unchecked functions.
#include "preconditions.hpp"

static_assert(!LADON_CHECKED);

std::size_t ladon_test::unchecked_queries() { return queries_of_too_many(); }
