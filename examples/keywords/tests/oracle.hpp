// Computes the front end in float64 with plain loops, as the oracle of the tests. A direct DFT replaces the FFT.
#pragma once

#include <array>
#include <span>

#include "tables.hpp"

namespace keywords {

struct FrameOracle {
  std::array<double, mel_bands> log_bands;
  std::array<double, coefficients> features;
  // The largest allowed errors of the float32 front end: log_band_bound for its log_bands, and feature_bound for its
  // features.
  std::array<double, mel_bands> log_band_bound;
  std::array<double, coefficients> feature_bound;
};

FrameOracle compute_oracle(std::span<const float, frame_length> samples);

}  // namespace keywords
