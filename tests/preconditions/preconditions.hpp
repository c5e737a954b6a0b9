// One broken promise, for both of this program's files: the one that is checked and the one that is not. What they
// share by name is internal to each, for its types are not the same.
#pragma once

#include <cstddef>

#include <ladon/ladon.hpp>

namespace ladon_test {

constexpr ladon::Shape shape{.queries = 3, .keys = 4, .model = 2};
template <class Mask>
using Attention = ladon::Attention<shape, Mask>;

// By pointer, so that the function has a symbol of its own for the linker to see.
static std::size_t queries_of_too_many() {
  using Options = Attention<ladon::mask::None>::Options;
  const Options options{.queries = 4};
  ladon::Lengths (Options::* volatile lengths)() const noexcept = &Options::lengths;
  return (options.*lengths)().queries;
}

std::size_t unchecked_queries();

}  // namespace ladon_test
