// The ceiling of int8 products: multiply-adds a second of one core, with inputs in the L1 cache.
#pragma once

#include <cstddef>
#include <cstdint>

#include <benchmark/benchmark.h>
#include <ladon/detail/simd/pair_sums.hpp>

#include "fma_peak.hpp"

namespace ladon::inline LADON_ABI::bench {

// Returns GFLOP/s of the step of int8 products (detail/simd/pair_sums.hpp), two flops for each multiply-add.
LADON_NOINLINE inline double int8_peak(std::size_t rounds = 20000) {
  using Target = detail::simd::NativeVectors;
  using Sums = detail::simd::PairSums<Target::Pack<Target::lanes>>;
  constexpr std::size_t sums = 8;
  alignas(64) std::int16_t panels[sums][2 * Target::lanes];
  for (auto& panel : panels)
    for (std::int16_t& x : panel) x = 1;
  volatile std::int32_t seed = 1;  // unknown to the compiler
  Sums sum[sums];
  for (Sums& one : sum) one = Sums::zero();
  const std::int32_t pair = seed;
  const double start = now();
  for (std::size_t k = 0; k < rounds; ++k) {
    benchmark::ClobberMemory();  // otherwise, the compiler computes the products once for all rounds
    LADON_UNROLL
    for (std::size_t i = 0; i < sums; ++i) sum[i].add(panels[i], pair);
  }
  const double seconds = now() - start;
  std::int32_t total = 0;
  for (const Sums& one : sum) total += reduce_add(one);
  benchmark::DoNotOptimize(total);
  return 2.0 * 2 * Target::lanes * sums * static_cast<double>(rounds) / seconds * 1e-9;
}

}  // namespace ladon::inline LADON_ABI::bench
