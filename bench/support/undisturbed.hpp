// Whether the core is ours alone. On a virtual machine a stranger may compute in its other hyperthread, for
// milliseconds or minutes. Sums in registers hardly notice: they need two instructions a cycle, which is what half a
// core gives. Work that also loads needs more, and takes up to twice as long. So a probe that is made like the work
// says whether anyone is there: the library's own tile, from the nearest cache, which reaches the peak on a core that
// is left alone. Of other processes of the same machine the system itself knows: whether one took the core meanwhile.
#pragma once

#include <algorithm>
#include <cstddef>

#include <sys/resource.h>

#include <ladon/detail/simd/vectors.hpp>

#include "cached_tile.hpp"
#include "fma_peak.hpp"

namespace ladon::inline LADON_ABI::bench {

// GFLOP/s of a tile over 128 steps, some microseconds of it.
LADON_NOINLINE inline double probe(std::size_t times = 20) {
  using Target = detail::simd::NativeVectors;
  static constexpr detail::Tiling tiling = detail::tiling<Target>(1000);
  // A thread's own: several may look at the same time, each at its core.
  static thread_local CachedTile<Target::Pack<tiling.lanes>, tiling.rows, tiling.packs, 128> tile;
  double start = 0;
  for (std::size_t i = 0; i <= times; ++i) {
    if (i == 1) start = now();  // what was measured before may have taken all of the caches
    tile.multiply();
  }
  return tile.flops * static_cast<double>(times) / (now() - start) * 1e-9;
}

// How often this process had to give its core to another of this machine.
inline long interruptions() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return usage.ru_nivcsw;
}

// What the probe reaches when nobody is there: the most that was ever seen.
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
  // Waits for it; false when it did not come in time.
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

}  // namespace ladon::inline LADON_ABI::bench
