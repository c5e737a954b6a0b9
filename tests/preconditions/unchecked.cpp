// What is checked elsewhere in this program is not checked here.
#include "preconditions.hpp"

static_assert(!LADON_CHECKED);

std::size_t ladon_test::unchecked_queries() { return queries_of_too_many(); }
