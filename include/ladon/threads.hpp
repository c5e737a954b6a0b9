// SPDX-License-Identifier: Apache-2.0
// Divides the work of one call among several threads. A call consists of phases. Each phase is divided into shares. A
// share is the work of one thread in one phase. The smallest unit of work is a part: a panel (detail/panel/panels.hpp)
// or a head group.
//     phase 0   computes the input of attention in panels    a share has some of the panels
//     phase 1   computes the attention of all heads          a share has some of the head groups
//     phase 2   computes the remaining steps and writes y    a share has some of the panels
//
// A head group is one head of keys and values, with all query heads that use this head. A stack of encoder layers
// repeats phases 1 and 2 for each layer. A decoder layer has phases 1 and 2 twice: for the attention to the decoder's
// tokens, and for the attention to the encoder's output. Attention without projections has a single phase, in which
// each thread computes some of the query heads. Threads wait for each other only between phases, because no share reads
// data that another share of the same phase writes. `y` is bit-identical for any number of shares.
//
// The library starts no threads. The caller provides the threads, and makes the threads wait between phases.
#pragma once

#include <cstddef>

#include <ladon/checks.hpp>
#include <ladon/detail/build/compiler.hpp>
#include <ladon/detail/panel/range.hpp>

namespace LADON_NAMESPACE {

// The share with number `index`, out of the `count` shares of a phase. Precondition: `index` < `count` (checks.hpp).
struct Share {
  std::size_t index = 0;
  std::size_t count = 1;
  LADON_CALLER_MEMBER

  // Divides the parts 0 to `parts` - 1 of a phase (panels or head groups) into `count` ranges, and returns the range
  // with the number `index`. The lengths of two ranges differ by at most 1. If there are fewer parts than shares, the
  // ranges from number `parts` on are empty.
  constexpr Range of(std::size_t parts) const noexcept {
    LADON_EXPECTS(index < count, "ladon: a share's index is less than their count", caller,
                  {{"index", index}, {"count", count}});
    const std::size_t shares = count < parts ? count : parts;
    if (index >= shares) return {parts, parts};
    return {parts * index / shares, parts * (index + 1) / shares};
  }
};

}  // namespace LADON_NAMESPACE
