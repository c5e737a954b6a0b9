// Computes the magnitudes of the DFT of real signals, one signal in each lane.
//
// The signal x of fft_length samples is read as `points` complex numbers z[n] = x[2n] + i x[2n + 1]. A DFT of length
// `points` transforms z into Z. Four steps of radix 4 (decimation in frequency) compute Z in place. Then Z gives X, the
// DFT of x:
//     X[k] = even + odd    X[points - k] = conj(even - odd)
//     even = (Z[k] + conj Z[points - k]) / 2
//     odd = -i/2 w^k (Z[k] - conj Z[points - k])    w = e^(-2 pi i / fft_length)
//
// The last step of radix 4 computes the magnitudes of X directly, so Z and X are never stored.
#pragma once

#include <array>
#include <cstddef>

#include "lanes.hpp"
#include "tables.hpp"

namespace keywords {

struct Complex {
  Lanes real;
  Lanes imaginary;
};
inline Complex operator+(Complex a, Complex b) noexcept { return {a.real + b.real, a.imaginary + b.imaginary}; }
inline Complex operator-(Complex a, Complex b) noexcept { return {a.real - b.real, a.imaginary - b.imaginary}; }

class Fft {
 public:
  static constexpr std::size_t points = fft_length / 2;
  using Magnitudes = std::array<Lanes, points + 1>;

  // Writes the magnitudes of all bins of the DFT, multiplied by 2. signal(i) returns sample i of each signal.
  template <class Signal>
  void transform(Signal signal, Magnitudes& magnitudes) noexcept {
    step<points / 4>(z_.data(), [&](std::size_t n) { return Complex{signal(2 * n), signal(2 * n + 1)}; });
    for (Complex* part = z_.data(); part < z_.data() + points; part += points / 4) {
      step<points / 16>(part, [=](std::size_t n) { return part[n]; });
      for (Complex* small = part; small < part + points / 4; small += points / 16) {
        step<points / 64>(small, [=](std::size_t n) { return small[n]; });
      }
    }
    for (std::size_t k = 0; k <= points / 8; ++k) last_step(k, magnitudes);
  }

 private:
  using Quartet = std::array<Complex, 4>;
  static_assert(points == 256, "the DFT has four steps of radix 4");

  // Returns the DFT of length 4.
  static Quartet dft(Complex a, Complex b, Complex c, Complex d) noexcept {
    const Complex even = a + c, odd = b + d, even_turned = a - c, odd_turned = b - d;
    return {even + odd, Complex{even_turned.real + odd_turned.imaginary, even_turned.imaginary - odd_turned.real},
            even - odd, Complex{even_turned.real - odd_turned.imaginary, even_turned.imaginary + odd_turned.real}};
  }

  // Returns z e^(-2 pi i turns / fft_length).
  static Complex rotated(Complex z, std::size_t turns) noexcept {
    const Lanes cosine(tables::roots[turns].cosine), sine(tables::roots[turns].sine);
    return {add_product(z.real * cosine, z.imaginary, sine), subtract_product(z.imaginary * cosine, z.real, sine)};
  }

  // Replaces a DFT of length 4 * Quarter by four DFTs of length Quarter: writes the input of these DFTs to `z`.
  // Part j of `z` belongs to the outputs k with k % 4 == j. load(n) returns element n of the input.
  template <std::size_t Quarter, class Load>
  static void step(Complex* z, Load load) noexcept {
    constexpr std::size_t turns = fft_length / (4 * Quarter);
    for (std::size_t n = 0; n < Quarter; ++n) {
      const Quartet y = dft(load(n), load(n + Quarter), load(n + 2 * Quarter), load(n + 3 * Quarter));
      z[n] = y[0];
      for (std::size_t j = 1; j < 4; ++j) z[n + j * Quarter] = rotated(y[j], turns * j * n);
    }
  }

  // Returns Z[k], Z[k + points / 4], Z[k + points / 2] and Z[k + 3 points / 4], for k < points / 4.
  Quartet outputs(std::size_t k) const noexcept {
    const Complex* const z = &z_[k % 4 * (points / 4) + k / 4 % 4 * (points / 16) + k / 16 * (points / 64)];
    return dft(z[0], z[1], z[2], z[3]);
  }

  // Computes the last step for the outputs k + j * points / 4 and the outputs points - (k + j * points / 4).
  void last_step(std::size_t k, Magnitudes& magnitudes) const noexcept {
    constexpr std::size_t quarter = points / 4;
    const Quartet low = outputs(k), high = outputs((quarter - k) % quarter);
    for (std::size_t j = 0; j < 4; ++j) {
      write_magnitudes(k + j * quarter, low[j], high[k == 0 ? (4 - j) % 4 : 3 - j], magnitudes);
    }
  }

  // Writes the magnitudes of X[k] and X[points - k], multiplied by 2. `a` is Z[k], and `b` is Z[points - k].
  static void write_magnitudes(std::size_t k, Complex a, Complex b, Magnitudes& magnitudes) noexcept {
    const Complex even{a.real + b.real, a.imaginary - b.imaginary};
    const Complex odd = rotated({a.imaginary + b.imaginary, b.real - a.real}, k);
    magnitudes[k] = magnitude(even + odd);
    magnitudes[points - k] = magnitude(even - odd);
  }
  static Lanes magnitude(Complex x) noexcept {
    return square_root(add_product(x.real * x.real, x.imaginary, x.imaginary));
  }

  std::array<Complex, points> z_;
};

}  // namespace keywords
