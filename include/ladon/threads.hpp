// SPDX-License-Identifier: Apache-2.0
// The memory argument says what a thread computes:
//     run(x, weights, y, workspace)                   the whole call
//     run(x, weights, y, team.part(phase, share))     one share of one phase; `team` is a TeamWorkspace
//
// A call has phases, and each phase is divided into shares, one for each thread. A share consists of parts: panels of
// tokens, or heads of keys and values with their query heads. All shares of a phase must be finished before a share of
// the next phase begins. All threads pass equal arguments. `y` is bit-identical for any number of shares.
//     phase 0   computes the input of attention    parts are panels
//     phase 1   computes the attention             parts are heads
//     phase 2   computes the rest, and writes y    parts are panels
//
// A stack repeats phases 1 and 2 for each layer, and twice for each decoder layer. The class Attention has one
// phase, whose parts are query heads. The library starts no threads.
#pragma once

#include <ladon/detail/config/quiet_begin.hpp>

#include <cstddef>

#include <ladon/checks.hpp>
#include <ladon/detail/config/compiler.hpp>
#include <ladon/detail/panel/rows.hpp>

namespace LADON_NAMESPACE {

// Precondition: `index` < `count` (checks.hpp).
struct Share {
  std::size_t index = 0;
  std::size_t count = 1;
  LADON_CALLER_MEMBER

  // Divides `parts` into `count` ranges, whose lengths differ by at most 1 and may be 0. Returns range number `index`.
  constexpr Range of(std::size_t parts) const noexcept {
    LADON_EXPECTS(index < count, "ladon: a share's index is less than their count", caller,
                  {{"index", index}, {"count", count}});
    const std::size_t shares = count < parts ? count : parts;
    if (index >= shares) return {parts, parts};
    return {parts * index / shares, parts * (index + 1) / shares};
  }
};

// The memory of a call by one thread, aligned to 64 bytes. Its earlier content does not matter.
template <class Shared, class Scratch>
struct Workspace {
  LADON_NO_UNIQUE_ADDRESS Shared shared;
  Scratch scratch;
};

// All threads use the same `shared`, and each thread has its own `scratch`.
template <class Shared, class Scratch>
struct Part {
  std::size_t phase;
  Share share;
  Shared& shared;
  Scratch& scratch;
};

// The memory of a call by at most `Threads` threads.
template <class Shared, class Scratch, std::size_t Threads>
struct TeamWorkspace {
  static_assert(Threads > 0, "ladon: a call needs at least one thread");
  LADON_NO_UNIQUE_ADDRESS Shared shared;
  Scratch scratch[Threads];

  // Precondition: share.index < Threads.
  constexpr Part<Shared, Scratch> part(std::size_t phase, Share share) noexcept {
    return {phase, share, shared, scratch[share.index]};
  }
};

}  // namespace LADON_NAMESPACE
#include <ladon/detail/config/quiet_end.hpp>
