// How a share of peak is measured: in rounds, each with the ceiling before and after the work, on the same core. Clocks
// and neighbours change between rounds, hardly within one; what is reported is the median of the rounds' ratios.
#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

#include <benchmark/benchmark.h>

#include "fma_peak.hpp"

namespace ladon::inline LADON_ABI::bench {

// The value that a part of the others lies below; 0.5 is the median.
inline double quantile(std::vector<double> values, double part) {
  if (values.empty()) return 0;
  std::sort(values.begin(), values.end());
  return values[static_cast<std::size_t>(part * static_cast<double>(values.size() - 1) + 0.5)];
}

// Calls work() often enough that a round of it takes about as long as the peak loop beside it.
template <class Work>
void measure(benchmark::State& state, double flops, Work work) {
  work();  // pages are there, caches are warm
  const double once = std::max(flops / (fma_peak() * 1e9), 1e-7);
  const auto repeats = std::max<std::size_t>(1, static_cast<std::size_t>(1e-3 / once));
  std::vector<double> share, gflops, peak;
  for (auto _ : state) {
    const double before = fma_peak();
    const double start = now();
    for (std::size_t r = 0; r < repeats; ++r) {
      work();
      benchmark::ClobberMemory();
    }
    const double seconds = (now() - start) / static_cast<double>(repeats);
    const double ceiling = (before + fma_peak()) / 2;
    state.SetIterationTime(seconds);
    gflops.push_back(flops / seconds * 1e-9);
    peak.push_back(ceiling);
    share.push_back(gflops.back() / ceiling);
  }
  state.counters["gflops"] = quantile(gflops, 0.5);
  state.counters["peak_gflops"] = quantile(peak, 0.5);
  state.counters["share_of_peak"] = quantile(share, 0.5);
  state.counters["lower_quartile"] = quantile(share, 0.25);
  state.counters["upper_quartile"] = quantile(share, 0.75);
}

}  // namespace ladon::inline LADON_ABI::bench
