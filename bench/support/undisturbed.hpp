// Detects whether another process uses the core.
//
// On a virtual machine, another guest may use the other hyperthread of the core, and kernels then take up to twice as
// long. To detect this, `probe` runs the innermost loop of matrix products on data in the L1 cache. Because of its
// loads, this loop needs more than two instructions per cycle, and it reaches its peak only if the other hyperthread is
// idle. A loop without loads needs only two instructions per cycle. A core starts two instructions per cycle even if
// the other hyperthread is busy, so such a loop would not detect the guest.
//
// The system counts how often another process of this machine takes the core. `interruptions` returns this count.
#pragma once

#include <algorithm>
#include <cstddef>

#include <sys/resource.h>

#include <ladon/detail/vec/choose.hpp>

#include "cached_tile.hpp"
#include "fma_peak.hpp"

namespace LADON_NAMESPACE::bench {

// Returns the GFLOP/s of the innermost loop of matrix products, with sums of 128 terms. Takes some microseconds.
LADON_NOINLINE inline double probe(std::size_t times = 20) {
  using Vectors = detail::vec::NativeVectors;
  static constexpr detail::PanelLayout layout = detail::panel_layout<Vectors>(1000);
  // A separate tile for each thread, because several threads may measure their cores at the same time.
  static thread_local CachedTile<Vectors::Pack<layout.lanes>, layout.tile_rows, layout.packs, 128> tile;
  double start = 0;
  for (std::size_t i = 0; i <= times; ++i) {
    if (i == 1) start = now();  // the first tile only warms the caches
    tile.multiply();
  }
  return tile.flops * static_cast<double>(times) / (now() - start) * 1e-9;
}

// Returns how often another process of this machine has taken the core from this process so far.
inline long interruptions() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return usage.ru_nivcsw;
}

// Decides whether a core is undisturbed now: compares the result of probe() with the highest result so far.
class Quiet {
 public:
  Quiet() {
    for (int i = 0; i < 2000; ++i) now_quiet();
  }
  bool now_quiet() {
    const double seen = probe();
    highest_ = std::max(highest_, seen);
    return seen > 0.985 * highest_;
  }
  // Waits until no other process uses the core. Returns false if this takes longer than `seconds`.
  bool wait(double seconds) {
    for (const double end = now() + seconds; now() < end;) {
      if (now_quiet()) return true;
    }
    return false;
  }

 private:
  double highest_ = 0;
};

inline Quiet& quiet() {
  static Quiet one;
  return one;
}

}  // namespace LADON_NAMESPACE::bench
