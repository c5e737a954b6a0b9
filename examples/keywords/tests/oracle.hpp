// The front end in plain loops of float64: a direct DFT, and the formulas of the model's description.
#pragma once

#include <array>
#include <span>

#include "tables.hpp"

namespace keywords {

struct FrameOracle {
  std::array<double, mel_bands> log_bands;
  std::array<double, coefficients> features;
  // How far the float32 front end may be from these numbers.
  std::array<double, mel_bands> log_band_bound;
  std::array<double, coefficients> feature_bound;
};

FrameOracle compute_oracle(std::span<const float, frame_length> samples);

}  // namespace keywords
