// The part of a call that a thread computes: the whole call, or one share of one phase.
#pragma once

#include <cstddef>

#include <ladon/detail/memory/range.hpp>
#include <ladon/detail/target/compiler.hpp>
#include <ladon/threads.hpp>

namespace ladon::inline LADON_ABI::detail {

// All phases and all of their work. The compiler knows every size.
struct WholeCall {
  static constexpr bool whole = true;
  static constexpr bool has(std::size_t) noexcept { return true; }
  static constexpr Range of(std::size_t parts) noexcept { return {0, parts}; }
};

// One share of one phase.
struct PartOfCall {
  static constexpr bool whole = false;
  std::size_t phase;
  Share share;
  constexpr bool has(std::size_t which) const noexcept { return which == phase; }
  constexpr Range of(std::size_t parts) const noexcept { return share.of(parts); }
};

}  // namespace ladon::inline LADON_ABI::detail
