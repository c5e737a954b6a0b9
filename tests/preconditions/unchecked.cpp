// This file is compiled without checks. The other files of the program have checks.
#include "preconditions.hpp"

static_assert(!LADON_CHECKED);

std::size_t ladon_test::unchecked_queries() { return queries_of_too_many(); }
