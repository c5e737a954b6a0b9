// Defines a shape and a function that breaks a precondition, for unchecked.cpp and for the checked source files of this
// program. The function is static, because the types of Ladon differ between checked and unchecked files.
#pragma once

#include <cstddef>

#include <ladon/ladon.hpp>

namespace ladon_test {

constexpr ladon::Shape small{.queries = 3, .keys = 4, .model = 2, .heads = 1};
template <class Mask>
using Attention = ladon::Attention<small, Mask>;

// Breaks a precondition: 4 queries in a shape of 3. Calls Options::lengths through a volatile pointer, so the call is
// not inlined. Each source file then has a symbol of `lengths`, and the linker could confuse these symbols.
static std::size_t queries_of_too_many() {
  using Options = Attention<ladon::mask::Unmasked>::Options;
  const Options options{.queries = 4};
  ladon::Lengths (Options::* volatile lengths)() const noexcept = &Options::lengths;
  return (options.*lengths)().queries;
}

std::size_t unchecked_queries();

}  // namespace ladon_test
