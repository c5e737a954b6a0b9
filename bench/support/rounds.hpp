// Measures which share of the peak rate of a core a function reaches. Each round calls the function, and measures the
// peak before and after these calls. A round is repeated if another process used the core (undisturbed.hpp).
// Repetitions end `patience` seconds after the start of the first round. The results are the median share of all
// rounds, and the fraction of the rounds that stayed disturbed.
#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

#include <benchmark/benchmark.h>

#include "fma_peak.hpp"
#include "int8_peak.hpp"
#include "undisturbed.hpp"

namespace LADON_NAMESPACE::bench {

// Returns the quantile `part` of the values: 0.5 gives the median, and 0.25 the lower quartile.
inline double quantile(std::vector<double> values, double part) {
  if (values.empty()) return 0;
  std::sort(values.begin(), values.end());
  return values[static_cast<std::size_t>(part * static_cast<double>(values.size() - 1) + 0.5)];
}

// The flops of a call, two for each multiply-add.
struct Flops {
  double float32, int8 = 0;
  double all() const { return float32 + int8; }
};

// Measures the peak in GFLOP/s for a mix of float32 and int8 flops. This peak is the rate of a core that computes first
// all float32 flops, and then all int8 flops.
inline double measured_peak(const Flops& flops) {
  if (flops.int8 == 0) return fma_peak();
  return flops.all() / (flops.float32 / fma_peak() + flops.int8 / int8_peak());
}

struct Round {
  double seconds;  // the time of one call
  double peak;
  bool disturbed;
};

template <class Work>
Round one_round(std::size_t repeats, const Flops& flops, Work& work) {
  const bool alone = quiet().now_quiet();
  const long switches = interruptions();
  const double before = measured_peak(flops);
  const double start = now();
  for (std::size_t r = 0; r < repeats; ++r) {
    work();
    benchmark::ClobberMemory();
  }
  const double seconds = (now() - start) / static_cast<double>(repeats);
  const bool interrupted = interruptions() != switches;
  const double after = measured_peak(flops);
  return {seconds, (before + after) / 2, !alone || interrupted || !quiet().now_quiet()};
}

// Measures work() in state.max_iterations rounds. A round has at least one call. Short calls are repeated until a round
// would take 0.3 ms at peak throughput. Longer rounds would be disturbed more often, because other processes may leave
// a core free for only a few milliseconds. Disturbed rounds are repeated until `patience` seconds after the start of
// the first round.
template <class Work>
void measure(benchmark::State& state, double patience, const Flops& flops, Work work) {
  work();  // maps the pages and warms the caches
  const double once = std::max(flops.all() / (measured_peak(flops) * 1e9), 1e-7);
  const auto repeats = std::max<std::size_t>(1, static_cast<std::size_t>(3e-4 / once));
  const double end = now() + patience;
  std::vector<double> share, gflops, peak;
  double disturbed = 0;
  for (auto _ : state) {
    Round round = one_round(repeats, flops, work);
    while (round.disturbed && quiet().wait(end - now())) round = one_round(repeats, flops, work);
    disturbed += round.disturbed;
    state.SetIterationTime(round.seconds);
    gflops.push_back(flops.all() / round.seconds * 1e-9);
    peak.push_back(round.peak);
    share.push_back(gflops.back() / round.peak);
  }
  state.counters["disturbed"] = disturbed / static_cast<double>(share.size());
  state.counters["gflops"] = quantile(gflops, 0.5);
  state.counters["peak_gflops"] = quantile(peak, 0.5);
  state.counters["share_of_peak"] = quantile(share, 0.5);
  state.counters["lower_quartile"] = quantile(share, 0.25);
  state.counters["upper_quartile"] = quantile(share, 0.75);
}

}  // namespace LADON_NAMESPACE::bench
