// Tests that the version in the headers equals the version of the project.
#include <string>

#include <doctest/doctest.h>

#include <ladon/ladon.hpp>

#if LADON_VERSION < 100
#error "LADON_VERSION must be a number that the preprocessor can compare"
#endif

TEST_CASE("the version is that of the project, and its number keeps the order of versions") {
  CHECK(std::string(LADON_VERSION_STRING) == LADON_PROJECT_VERSION);
  CHECK(LADON_VERSION / 10000 == LADON_VERSION_MAJOR);
  CHECK(LADON_VERSION / 100 % 100 == LADON_VERSION_MINOR);
  CHECK(LADON_VERSION % 100 == LADON_VERSION_PATCH);
}
