// The front end of KWT-1 computes features from sound. A frame of 30 ms becomes 40 mel-frequency cepstral coefficients.
//
//     samples -> Hann window -> magnitudes of the DFT -> mel bands -> logarithms -> DCT-II
//
// The constants in tables.hpp equal the constants of the published model, whose TensorFlow Lite file contains the front
// end.
#pragma once

#include <array>
#include <cstddef>

#include "fft.hpp"
#include "lanes.hpp"
#include "tables.hpp"

namespace keywords {

// Computes several frames at a time, one frame in each lane of a vector register.
class FrontEnd {
 public:
  // Computes features [frames][coefficients] of samples [(frames - 1) * frame_step + frame_length]. Samples are floats
  // from -1 to 1. Frame i begins at sample i * frame_step.
  //
  // If `log_bands` is not null, also writes the natural logarithms of the mel bands, [frames][mel_bands].
  //
  // Frames are computed in groups of lane_count. A call with fewer frames takes the time of a whole group.
  void compute(const float* samples, std::size_t frames, float* features, float* log_bands = nullptr) noexcept;

 private:
  void compute_group(const float* samples, std::size_t frames, float* features) noexcept;
  void load_signal(const float* samples, std::size_t frames) noexcept;
  void compute_log_bands() noexcept;
  void write_coefficients(std::size_t frames, float* features) const noexcept;
  void write_log_bands(std::size_t frames, float* log_bands) const noexcept;

  Fft fft_;
  alignas(Lanes) std::array<float, fft_length * lane_count> signal_{};  // [fft_length][lane_count], zeros at its end
  std::array<Complex, fft_length / 2 + 1> spectrum_{};
  std::array<Lanes, mel_bands> log_bands_{};
};

}  // namespace keywords
