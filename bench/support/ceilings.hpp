// Measures peak rates of a core: reads from each cache and from memory, exponentials of the softmax, and small matrix
// products with sums of various lengths. fma_peak.hpp measures the rate of multiply-adds in registers. Each function
// runs for some hundred microseconds, and returns a rate in units per second.
#pragma once

#include <cstddef>
#include <limits>

#include <ladon/detail/attention/softmax.hpp>
#include <ladon/detail/attention/values.hpp>
#include <ladon/detail/vec/choose.hpp>

#include "cached_tile.hpp"
#include "fma_peak.hpp"

namespace LADON_NAMESPACE::bench {

using Widest = detail::vec::NativeVectors;
using WidePack = Widest::Pack<Widest::lanes>;

// Reads numbers[0] to numbers[count - 1] repeatedly, `times` times, and returns the bytes read per second. `numbers`
// must begin at a cache line. Whether the numbers come from a cache or from memory depends on what the caller read
// before.
LADON_NOINLINE inline double read_rate(const float* numbers, std::size_t count, std::size_t times) {
  constexpr std::size_t sums = 8, step = sums * Widest::lanes;
  WidePack sum[sums];
  for (WidePack& one : sum) one = WidePack::broadcast(0.0f);
  const double start = now();
  for (std::size_t k = 0; k < times; ++k) {
    for (std::size_t i = 0; i + step <= count; i += step) {
      LADON_UNROLL
      for (std::size_t s = 0; s < sums; ++s) sum[s] = sum[s] + WidePack::load(numbers + i + s * Widest::lanes);
    }
    asm volatile("" : : "r"(numbers) : "memory");
  }
  const double seconds = now() - start;
  for (std::size_t s = 1; s < sums; ++s) sum[0] = sum[0] + sum[s];
  volatile float sink = reduce_add(sum[0]);
  (void)sink;
  return static_cast<double>(times * (count / step * step) * sizeof(float)) / seconds;
}

// Returns how many exponentials of the softmax the core computes per second. The exponentials are those of 4096 scores,
// which fill half of an L1 cache of 32 KB. On some targets, the loop of the weighted sums also computes the
// exponentials. For these targets, the function measures how much longer this loop takes with exponentials than
// without.
LADON_NOINLINE inline double exponential_rate(std::size_t times) {
  static constexpr detail::PanelLayout layout = detail::panel_layout<Widest>(1000);
  using Pack = Widest::Pack<layout.lanes>;
  constexpr std::size_t width = layout.width(), keys = 4096 / width, rows = layout.tile_rows;
  using Form = detail::QueryBlockForm<Pack, detail::QueryBlockSizes{layout, layout.packs, width, 1, rows}>;
  alignas(64) static float scores[keys * width], values[rows * keys], out[rows * width];
  for (float& value : values) value = 1;  // writes each page; CachedTile() has the reason
  const Pack one = Pack::broadcast(1.0f);
  Pack before[layout.packs], after[layout.packs];
  detail::RunningSoftmax<Pack, layout.packs> running(-std::numeric_limits<float>::infinity());
  // The exponentials of one round are the scores of the next round. They are between 0 and 1, so 1 is a valid running
  // maximum for all rounds.
  for (std::size_t v = 0; v < layout.packs; ++v) running.maximum[v] = before[v] = after[v] = one;
  const auto seconds = [&](auto work) {
    const double start = now();
    for (std::size_t i = 0; i < times; ++i) {
      work();
      asm volatile("" : : "r"(scores), "r"(out) : "memory");
    }
    return now() - start;
  };
  double taken;
  if constexpr (Widest::exponentials_beside_values) {
    taken = seconds([&] {
      running.template begin<false>(before);
      detail::weighted_sum_of_scores<Form, false>(values, scores, {0, keys}, keys, running, true, true, after, out);
    });
    taken -=
        seconds([&] { detail::weighted_sum<Form>(values, scores, {0, keys}, {true, running.correction, after}, out); });
  } else {
    taken = seconds([&] {
      running.template begin<false>(before);
      running.template exponentials<width, Widest::softmax_chains>(scores, keys);
    });
  }
  return static_cast<double>(times * keys * width) / taken;
}

// Returns the flops per second of the innermost loop of matrix products. The loop computes Rows * Packs vectors of sums
// with `Inner` terms each, and then stores the sums. Callers measure several values of `Inner`, because attention has
// short and long sums: a score has only as many terms as a head is wide.
template <std::size_t Inner, std::size_t Rows, std::size_t Packs>
LADON_NOINLINE double tile_rate(double seconds) {
  static CachedTile<WidePack, Rows, Packs, Inner> tile;
  constexpr std::size_t repeats = 1 + 16384 / Inner;
  double tiles = 0;
  const double start = now();
  do {
    for (std::size_t i = 0; i < repeats; ++i) tile.multiply();
    tiles += static_cast<double>(repeats);
  } while (now() - start < seconds);
  return tile.flops * tiles / (now() - start);
}

}  // namespace LADON_NAMESPACE::bench
