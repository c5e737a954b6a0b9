// SPDX-License-Identifier: Apache-2.0
// What one thread computes in a call: all of it, or one share of one phase (threads.hpp). A phase consists of parts:
// panels, or heads of keys and values.
#pragma once

#include <cstddef>

#include <ladon/checks.hpp>
#include <ladon/detail/build/compiler.hpp>
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

// Precondition: `phase` < `phases`, the number of phases of the call.
LADON_INLINE constexpr ShareOfPhase share_of_phase([[maybe_unused]] Caller caller, std::size_t phase,
                                                   [[maybe_unused]] std::size_t phases, Share share) noexcept {
  LADON_EXPECTS(phase < phases, "ladon: there are fewer phases", caller, {{"phase", phase}, {"phases", phases}});
  return {phase, share};
}

}  // namespace LADON_NAMESPACE::detail
