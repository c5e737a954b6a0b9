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

  // Computes the DFT of `signal` [fft_length][lane_count], and writes the DFT to `spectrum` [fft_length / 2 + 1].
  // `signal` must be aligned like an object of type Lanes.
  void transform(const float* signal, Complex* spectrum) noexcept;

 private:
  // The memory for KissFFT's state, which has fewer than 80 integers and at most 5/4 * fft_length complex numbers.
  alignas(Complex) std::byte state_[80 * sizeof(int) + 2 * alignof(Complex) + fft_length / 4 * 5 * sizeof(Complex)];
};

}  // namespace keywords
