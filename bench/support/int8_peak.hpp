// Measures the peak of int8 products: the multiply-adds per second of one core, with inputs in the L1 cache.
#pragma once

#include <cstddef>
#include <cstdint>

#include <benchmark/benchmark.h>
#include <ladon/detail/vec/dot.hpp>

#include "fma_peak.hpp"

namespace LADON_NAMESPACE::bench {

// Returns the GFLOP/s of the instructions in the innermost loop of int8 products (Dot::add in
// detail/vec/dot.hpp). A multiply-add counts as two flops. `rounds` is a multiple of 8: with one round in each
// iteration, the address of the loop decides, because the processor fetches a short loop in few pieces (Zen 3, AVX2: 92
// to 157 GFLOP/s, with eight rounds 136 to 162).
LADON_NOINLINE inline double int8_peak(std::size_t rounds = 20000) {
  using Vectors = detail::vec::NativeVectors;
  using Element = Vectors::Int8Element;
  using Dot = detail::vec::TupleDot<Element, Vectors::Pack<Vectors::lanes>>;
  using Sums = Dot::Sums;
  // A loop with few sums would wait for the results of its instructions. vpdpbusd (5 cycles, two starts per cycle)
  // needs at least 10 sums, and SDOT on a Neoverse V1 (3 cycles, four starts per cycle) needs 12. So the loop has 12
  // sums for both instructions. On other targets, each sum takes two registers, so the loop has 8 sums.
  constexpr std::size_t sums = LADON_VNNI || LADON_ARM_DOT ? 12 : 8;
  alignas(64) Element panels[sums][Dot::tuple_size * Vectors::lanes];
  for (auto& each : panels)
    for (Element& x : each) x = 1;
  // opaque() hides from the compiler that all panels are equal. Otherwise, the compiler would compute one sum instead
  // of all sums.
  const auto* const panel = detail::opaque(&panels[0]);
  Sums sum[sums];
  LADON_UNROLL  // keeps the sums in registers
  for (std::size_t i = 0; i < sums; ++i) sum[i] = Sums::zero();
  const std::int8_t weight[Dot::tuple_size] = {1, 1};
  const auto weights = Dot::weights(detail::opaque(&weight[0]));
  const double start = now();
  constexpr std::size_t together = 8;
  for (std::size_t k = 0; k < rounds; k += together) {
    LADON_UNROLL
    for (std::size_t j = 0; j < together; ++j) {
      benchmark::ClobberMemory();  // otherwise, the compiler computes the products once for all rounds
      LADON_UNROLL
      for (std::size_t i = 0; i < sums; ++i) Dot::add(sum[i], Dot::load(panel[i]), weights);
    }
  }
  const double seconds = now() - start;
  std::int32_t total = 0;
  LADON_UNROLL
  for (std::size_t i = 0; i < sums; ++i) total += reduce_add(sum[i]);
  benchmark::DoNotOptimize(total);
  return 2.0 * Dot::tuple_size * Vectors::lanes * sums * static_cast<double>(rounds) / seconds * 1e-9;
}

}  // namespace LADON_NAMESPACE::bench
