// Measures the peak with which the benchmarks compare their results: the multiply-adds per second of one core, with all
// operands in registers.
#pragma once

#include <chrono>
#include <cstddef>

#include <ladon/detail/vec/choose.hpp>

namespace LADON_NAMESPACE::bench {

inline double now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

// Returns the GFLOP/s of multiply-adds to independent sums in registers. A multiply-add counts as two flops for each
// lane. At least 8 sums are needed to hide the latency of an FMA, because an FMA takes 4 cycles and a core starts two
// per cycle. All sums and two operands must fit into the registers: with 16 sums on AVX2, the measured peak is a third
// too low.
LADON_NOINLINE inline double fma_peak(std::size_t rounds = 20000) {
  using Vectors = detail::vec::NativeVectors;
  using Pack = Vectors::Pack<Vectors::lanes>;
  constexpr std::size_t sums = Vectors::registers >= 32 ? 16 : 12;
  Pack sum[sums];
  volatile float seed = 0.9999f;  // unknown to the compiler; all sums stay between 0.99 and 1.02, so none is subnormal
  for (std::size_t i = 0; i < sums; ++i) sum[i] = Pack::broadcast(seed + 0.001f * static_cast<float>(i));
  const Pack factor = Pack::broadcast(seed), term = Pack::broadcast(1 - seed);
  const double start = now();
  for (std::size_t k = 0; k < rounds; ++k) {
    LADON_UNROLL
    for (std::size_t i = 0; i < sums; ++i) sum[i] = fma(sum[i], factor, term);
  }
  const double seconds = now() - start;
  for (std::size_t i = 1; i < sums; ++i) sum[0] = sum[0] + sum[i];
  volatile float sink = reduce_add(sum[0]);
  (void)sink;
  return 2.0 * Vectors::lanes * sums * static_cast<double>(rounds) / seconds * 1e-9;
}

}  // namespace LADON_NAMESPACE::bench
