// One call computed by several threads. A call consists of phases, and a phase consists of shares, one share a thread.
//
//     phase 0   tokens into panels            each share converts some of the panels
//     phase 1   every head                    each share computes some of the heads
//     phase 2   heads to output, output to y  each share computes some of the panels
//
// An encoder stack has the phases 1 and 2 for each layer. Within a phase, no share reads data that another share
// writes. Threads therefore wait between phases only. y is bit-identical for any number of shares.
//
// The caller provides the threads and the waiting: the library starts no threads.
#pragma once

#include <cstddef>

#include <ladon/checks.hpp>
#include <ladon/detail/memory/range.hpp>
#include <ladon/detail/target/compiler.hpp>

namespace ladon::inline LADON_ABI {

// Share number `index` of the `count` shares of a phase. Precondition: index < count (checks.hpp).
struct Share {
  std::size_t index = 0;
  std::size_t count = 1;

  // Returns the parts of this share, out of the parts 0 to parts - 1. The sizes of two shares differ by at most one
  // part. Shares beyond the number of parts are empty.
  constexpr Range of(std::size_t parts) const noexcept {
    LADON_EXPECTS(index < count, "ladon: a share's index is less than their count");
    const std::size_t shares = count < parts ? count : parts;
    if (index >= shares) return {parts, parts};
    return {parts * index / shares, parts * (index + 1) / shares};
  }
};

}  // namespace ladon::inline LADON_ABI
