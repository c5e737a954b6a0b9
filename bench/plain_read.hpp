// The ceiling of a token at a time: what plain loads of the same bytes take, a vector after the other in the order in
// which they lie, on the same core.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include <ladon/simd/pack.hpp>

#include "fma_peak.hpp"

namespace ladon::inline LADON_ABI::bench {

using Parts = std::vector<std::span<const float>>;

inline std::size_t bytes_of(const Parts& parts) {
  std::size_t bytes = 0;
  for (const auto& part : parts) bytes += part.size_bytes();
  return bytes;
}

// Seconds. Eight sums, so that no load waits for an addition: two are begun a cycle, and each takes four.
LADON_NOINLINE inline double plain_read(const Parts& parts, std::size_t repeats) {
  using Target = simd::Default;
  using Pack = Target::Pack<Target::lanes>;
  constexpr std::size_t sums = 8, step = sums * Pack::lanes;
  Pack sum[sums];
  for (std::size_t i = 0; i < sums; ++i) sum[i] = Pack::broadcast(0.0f);
  const double start = now();
  for (std::size_t r = 0; r < repeats; ++r) {
    for (const auto& part : parts) {
      const float* from = part.data();
      std::size_t left = part.size();
      for (; left >= step; left -= step, from += step) {
        LADON_UNROLL
        for (std::size_t i = 0; i < sums; ++i) sum[i] = sum[i] + Pack::load(from + i * Pack::lanes);
      }
      for (; left > 0; --left) sum[0] = sum[0] + Pack::broadcast(*from++);
    }
  }
  const double seconds = (now() - start) / static_cast<double>(repeats);
  for (std::size_t i = 1; i < sums; ++i) sum[0] = sum[0] + sum[i];
  volatile float sink = reduce_add(sum[0]);
  (void)sink;
  return seconds;
}

}  // namespace ladon::inline LADON_ABI::bench
