// SPDX-License-Identifier: Apache-2.0
// Double-precision functions for the table of a rotary embedding. They do not call libm, so constant evaluation and run
// time give equal values. Errors are about 1e-15: relative for e^x and ln x, absolute for cosine and sine.
#pragma once

#include <cstdint>

#include <ladon/detail/config/compiler.hpp>

namespace LADON_NAMESPACE::detail {

// Returns e^x. Precondition: |x| < 708.
constexpr double exp_double(double x) noexcept {
  constexpr double ln2 = 0.693147180559945309417;
  const auto n = static_cast<int>(x / ln2 + (x < 0 ? -0.5 : 0.5));
  const double rest = x - n * ln2;
  double sum = 1, term = 1;
  for (int i = 1; i < 20; ++i) sum += term *= rest / i;
  return sum * ladon::bit_cast<double>(static_cast<std::uint64_t>(1023 + n) << 52);
}

// Returns ln x. Precondition: x is positive and normal. With x = m * 2^n and m in [1, 2):
//     ln x = 2 artanh((m - 1) / (m + 1)) + n ln 2
constexpr double log_double(double x) noexcept {
  const auto bits = ladon::bit_cast<std::uint64_t>(x);
  const auto n = static_cast<int>(bits >> 52) - 1023;
  const double m = ladon::bit_cast<double>((bits & 0xfffffffffffffull) | (1023ull << 52));
  const double z = (m - 1) / (m + 1);
  double sum = 0, power = z;
  for (int i = 1; i < 40; i += 2, power *= z * z) sum += power / i;
  return 2 * sum + n * 0.693147180559945309417;
}

struct CosineAndSine {
  double cosine, sine;
};

// The angle is in radians and >= 0.
constexpr CosineAndSine cosine_and_sine(double angle) noexcept {
  // x = angle - `quarter` * pi / 2. `first` + `second` is pi / 2. `first` has 33 significant bits, so `quarter` *
  // `first` is exact for `quarter` up to 2^20.
  constexpr double first = 1.57079632673412561417, second = 6.07710050650619224932e-11;
  const auto quarter = static_cast<std::int64_t>(angle / (first + second) + 0.5);
  const double x = (angle - static_cast<double>(quarter) * first) - static_cast<double>(quarter) * second;
  double cosine = 1, sine = x, even = 1, odd = x;
  for (int i = 2; i < 22; i += 2) {
    cosine += even *= -x * x / (i * (i - 1));
    sine += odd *= -x * x / (i * (i + 1));
  }
  switch (quarter % 4) {
    case 0:
      return {cosine, sine};
    case 1:
      return {-sine, cosine};
    case 2:
      return {-cosine, -sine};
    default:
      return {sine, -cosine};
  }
}

}  // namespace LADON_NAMESPACE::detail
