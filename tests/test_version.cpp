// The version that the headers state is the project's.
#include <string>

#include <doctest/doctest.h>

#include <ladon/ladon.hpp>

#if LADON_VERSION < 100
#error "the preprocessor can compare versions"
#endif

TEST_CASE("the version is the project's, and in order as a number") {
  CHECK(std::string(LADON_VERSION_STRING) == LADON_PROJECT_VERSION);
  CHECK(LADON_VERSION / 10000 == LADON_VERSION_MAJOR);
  CHECK(LADON_VERSION / 100 % 100 == LADON_VERSION_MINOR);
  CHECK(LADON_VERSION % 100 == LADON_VERSION_PATCH);
}
