// Computes the DFT of real signals with KissFFT, one signal in each lane.
#pragma once

#include <cstddef>

#include "lanes.hpp"
#include "tables.hpp"

namespace keywords {

struct Complex {
  Lanes real;
  Lanes imaginary;
};

class Fft {
 public:
  Fft() noexcept;

  // Computes spectrum [fft_length / 2 + 1], the DFT of signal [fft_length][lane_count]. The signal is aligned to Lanes.
  void transform(const float* signal, Complex* spectrum) noexcept;

 private:
  // KissFFT's state: fewer than 80 integers, and 5/4 * fft_length complex numbers.
  alignas(Complex) std::byte state_[80 * sizeof(int) + 2 * alignof(Complex) + fft_length / 4 * 5 * sizeof(Complex)];
};

}  // namespace keywords
