// A broken precondition for the checked and the unchecked file of this program. The functions are internal to each
// file, because their types differ between the files.
#pragma once

#include <cstddef>

#include <ladon/ladon.hpp>

namespace ladon_test {

constexpr ladon::Shape shape{.queries = 3, .keys = 4, .model = 2};
template <class Mask>
using Attention = ladon::Attention<shape, Mask>;

// Called through a pointer, so that the linker sees a symbol of the function.
static std::size_t queries_of_too_many() {
  using Options = Attention<ladon::mask::None>::Options;
  const Options options{.queries = 4};
  ladon::Lengths (Options::* volatile lengths)() const noexcept = &Options::lengths;
  return (options.*lengths)().queries;
}

std::size_t unchecked_queries();

}  // namespace ladon_test
