// Holds the list of everything that ladon_bench measures.
#pragma once

#include <vector>

#include <benchmark/benchmark.h>

#include "cases.hpp"

namespace ladon_bench {

struct Measurement {
  // Measures one case (a layer of one shape with one mask). `patience` is the total time in seconds to wait for a core
  // that no other process uses.
  using Run = void (*)(benchmark::State& state, double patience);

  Case what;
  Run run;
};

// Returns the list of all measurements. The source file of each shape adds entries when its static variables are
// initialised, before main begins.
inline std::vector<Measurement>& measurements() {
  static std::vector<Measurement> all;
  return all;
}

}  // namespace ladon_bench
