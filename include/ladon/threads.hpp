// One call driven by several threads: it falls into phases, and each phase into shares, one a thread.
//
//     phase 0   x into panels             each share some of the panels
//     phase 1   every head                each share some of the heads
//     phase 2   out of the heads, to y    each share some of the panels
//
// (An encoder stack has phases 1 and 2 a layer.) Within a phase no share reads what another writes, so that nobody
// waits but between phases. What a share computes does not depend on how many there are: y has the same bits.
#pragma once

#include <cstddef>

#include <ladon/checks.hpp>
#include <ladon/detail/memory/range.hpp>
#include <ladon/detail/target/compiler.hpp>

namespace ladon::inline LADON_ABI {

// The index-th of `count` equal shares of a phase. Precondition: index < count (checked: expects.hpp).
struct Share {
  std::size_t index = 0;
  std::size_t count = 1;

  // Which of some parts are in this share: as evenly as can be, and none for shares beyond the parts.
  constexpr Range of(std::size_t parts) const noexcept {
    LADON_EXPECTS(index < count, "ladon: a share's index is less than their count");
    const std::size_t shares = count < parts ? count : parts;
    if (index >= shares) return {parts, parts};
    return {parts * index / shares, parts * (index + 1) / shares};
  }
};

}  // namespace ladon::inline LADON_ABI
