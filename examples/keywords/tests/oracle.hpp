// The oracle for the front end: plain loops in float64, with a direct DFT instead of an FFT.
#pragma once

#include <array>
#include <span>

#include "tables.hpp"

namespace keywords {

struct FrameOracle {
  std::array<double, mel_bands> log_bands;
  std::array<double, coefficients> features;
  // The largest allowed differences between the results of the float32 front end and `log_bands` and `features`.
  std::array<double, mel_bands> log_band_bound;
  std::array<double, coefficients> feature_bound;
};

FrameOracle compute_oracle(std::span<const float, frame_length> samples);

}  // namespace keywords
