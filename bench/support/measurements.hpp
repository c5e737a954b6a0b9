// The list of all measurements of ladon_bench.
#pragma once

#include <vector>

#include <benchmark/benchmark.h>

#include "cases.hpp"

namespace ladon_bench {

struct Measurement {
  // Measures the case. `patience` is the time in seconds to wait for a quiet core, for all rounds together.
  using Run = void (*)(benchmark::State& state, double patience);

  Case what;
  Run run;
};

// Returns the list. The file of each shape adds its measurements before main begins.
inline std::vector<Measurement>& measurements() {
  static std::vector<Measurement> all;
  return all;
}

}  // namespace ladon_bench
