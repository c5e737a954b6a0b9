// SPDX-License-Identifier: Apache-2.0
// What one thread computes in a call: all of it, or one share of one phase (threads.hpp). A phase consists of parts:
// panels, or heads of keys and values.
#pragma once

#include <cstddef>
#include <type_traits>

#include <ladon/checks.hpp>
#include <ladon/detail/config/compiler.hpp>
#include <ladon/detail/panel/range.hpp>
#include <ladon/threads.hpp>

namespace LADON_NAMESPACE::detail {

// The whole call. The compiler knows both results, so a call by one thread contains no tests of phases.
struct WholeCall {
  static constexpr bool whole = true;
  static constexpr bool has(std::size_t) noexcept { return true; }
  static constexpr Range of(std::size_t parts) noexcept { return {0, parts}; }
};

struct ShareOfPhase {
  static constexpr bool whole = false;
  std::size_t phase;
  Share share;
  constexpr bool has(std::size_t which) const noexcept { return which == phase; }
  constexpr Range of(std::size_t parts) const noexcept { return share.of(parts); }
};

// Whether `Memory` is a workspace with these members, or a part of a team's workspace.
template <class Memory, class Shared, class Scratch>
concept MemoryOf = std::is_same_v<std::remove_reference_t<Memory>, Workspace<Shared, Scratch>> ||
                   std::is_same_v<std::remove_cvref_t<Memory>, Part<Shared, Scratch>>;

// Returns what the memory argument of a call tells this thread to compute. Precondition: a part's phase < `phases`.
template <class Shared, class Scratch>
LADON_INLINE constexpr WholeCall share_of(const Workspace<Shared, Scratch>&, Caller, std::size_t) noexcept {
  return {};
}
template <class Shared, class Scratch>
LADON_INLINE constexpr ShareOfPhase share_of(const Part<Shared, Scratch>& part, [[maybe_unused]] Caller caller,
                                             [[maybe_unused]] std::size_t phases) noexcept {
  LADON_EXPECTS(part.phase < phases, "ladon: there are fewer phases", caller,
                {{"phase", part.phase}, {"phases", phases}});
  return {part.phase, part.share};
}

}  // namespace LADON_NAMESPACE::detail
