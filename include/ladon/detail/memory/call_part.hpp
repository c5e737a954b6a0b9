// SPDX-License-Identifier: Apache-2.0
// The part of a call that one thread computes: the whole call, or one share of one phase. threads.hpp explains phases
// and shares. The parts of a phase are panels, or heads of keys and values (parts_of_phase in
// detail/memory/panels.hpp).
#pragma once

#include <cstddef>

#include <ladon/checks.hpp>
#include <ladon/detail/memory/range.hpp>
#include <ladon/detail/target/compiler.hpp>
#include <ladon/threads.hpp>

namespace ladon::inline LADON_ABI::detail {

// The whole call. `has` returns true for every phase. `of` returns all parts of a phase. WholeCall has no data, so the
// compiler removes every test of a phase or a part.
struct WholeCall {
  static constexpr bool whole = true;
  static constexpr bool has(std::size_t) noexcept { return true; }
  static constexpr Range of(std::size_t parts) noexcept { return {0, parts}; }
};

// One share of one phase of a call. `has` returns true for this phase only. `of` returns the range of the phase's parts
// that this share computes.
struct PartOfCall {
  static constexpr bool whole = false;
  std::size_t phase;
  Share share;
  constexpr bool has(std::size_t which) const noexcept { return which == phase; }
  constexpr Range of(std::size_t parts) const noexcept { return share.of(parts); }
};

// Returns one share of phase `phase` of a call with `phases` phases. A phase that does not exist breaks a precondition.
LADON_INLINE constexpr PartOfCall part_of_call([[maybe_unused]] Caller caller, std::size_t phase,
                                               [[maybe_unused]] std::size_t phases, Share share) noexcept {
  LADON_EXPECTS(phase < phases, "ladon: there are fewer phases", caller, {{"phase", phase}, {"phases", phases}});
  return {phase, share};
}

}  // namespace ladon::inline LADON_ABI::detail
