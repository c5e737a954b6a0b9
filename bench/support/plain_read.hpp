// Measures plain loads of the weights and caches that a decoding step reads. The speed of decoding one token at a time
// is limited by these loads, so a decoding step takes at least the measured time.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include <ladon/detail/vec/choose.hpp>

#include "fma_peak.hpp"

namespace LADON_NAMESPACE::bench {

using Parts = std::vector<std::span<const float>>;

inline std::size_t bytes_of(const Parts& parts) {
  std::size_t bytes = 0;
  for (const auto& part : parts) bytes += part.size_bytes();
  return bytes;
}

// Returns the seconds of one read of all `parts`. The loaded numbers are added to 16 sums (8 sums on targets with fewer
// than 32 registers), so that no load waits for an addition. An addition takes four cycles, and a core starts two per
// cycle. The function divides each part into `Places` equal pieces, and reads from all pieces in turn. With one piece,
// the function reads the part from its start to its end, as memcpy does. With four pieces, reads from memory are
// fastest (bench/tuning-log.md).
template <std::size_t Places>
LADON_NOINLINE double plain_read(const Parts& parts, std::size_t repeats) {
  using Vectors = detail::vec::NativeVectors;
  using Pack = Vectors::Pack<Vectors::lanes>;
  constexpr std::size_t sums = Vectors::registers >= 32 ? 16 : 8, packs = sums / Places, step = packs * Pack::lanes;
  Pack sum[sums];
  for (std::size_t i = 0; i < sums; ++i) sum[i] = Pack::broadcast(0.0f);
  const double start = now();
  for (std::size_t r = 0; r < repeats; ++r) {
    for (const auto& part : parts) {
      const std::size_t run = part.size() / Places / step * step;
      for (std::size_t k = 0; k < run; k += step) {
        LADON_UNROLL
        for (std::size_t i = 0; i < sums; ++i) {
          sum[i] = sum[i] + Pack::load(part.data() + i / packs * run + k + i % packs * Pack::lanes);
        }
      }
      for (std::size_t k = Places * run; k < part.size(); ++k) sum[0] = sum[0] + Pack::broadcast(part[k]);
    }
  }
  const double seconds = (now() - start) / static_cast<double>(repeats);
  for (std::size_t i = 1; i < sums; ++i) sum[0] = sum[0] + sum[i];
  volatile float sink = reduce_add(sum[0]);
  (void)sink;
  return seconds;
}

}  // namespace LADON_NAMESPACE::bench
