// Measures the cores of several threads at once. Checks whether other processes use the cores, and measures the FMA
// peak of all cores together.
#pragma once

#include <atomic>
#include <cstddef>
#include <numeric>
#include <vector>

#include "fma_peak.hpp"
#include "team.hpp"
#include "undisturbed.hpp"

namespace ladon_bench {

class Cores {
 public:
  explicit Cores(std::size_t threads) : quiet_(threads), peaks_(threads) {}

  bool now_quiet(Team& team) {
    std::atomic<bool> all = true;
    team.run(1, [&](std::size_t, ladon::Share share) {
      if (!quiet_[share.index].now_quiet()) all = false;
    });
    return all;
  }

  // Waits until no other process uses the cores. Returns false if this takes longer than `seconds`.
  bool wait(Team& team, double seconds) {
    for (const double end = ladon::bench::now() + seconds; ladon::bench::now() < end;) {
      if (now_quiet(team)) return true;
    }
    return false;
  }

  // Returns the peak rate of multiply-adds of all cores together, in GFLOP/s.
  double fma_peak(Team& team, std::size_t rounds) {
    team.run(1, [&](std::size_t, ladon::Share share) { peaks_[share.index] = ladon::bench::fma_peak(rounds); });
    return std::accumulate(peaks_.begin(), peaks_.end(), 0.0);
  }

 private:
  std::vector<ladon::bench::Quiet> quiet_;
  std::vector<double> peaks_;
};

}  // namespace ladon_bench
