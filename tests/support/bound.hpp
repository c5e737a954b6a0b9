// How far float32 may be from float64, derived operation by operation.
//
// A Real is a float64 value with the standard deviation of the same computation in float32. The oracle computes with
// Reals, so the bound of each number that it returns comes from epsilon, from how long the sums were, and from the
// magnitudes that really occurred. Roundings are taken as independent and without bias, so deviations add as squares
// (Higham and Mary, "A new approach to probabilistic rounding error analysis", SIAM J. Sci. Comput. 41, 2019). With
// u = 2^-24, half of float's epsilon, and d(x) the deviation of x:
//
//     a + b, a - b    d^2 = d(a)^2 + d(b)^2 + (u |a + b|)^2                       one rounding, at most u (IEEE 754)
//     a * b           d^2 = (b d(a))^2 + (a d(b))^2 + (u |a b|)^2
//     a / b           d^2 = (d(a) / b)^2 + (a d(b) / b^2)^2 + (u |a / b|)^2
//     sqrt(a)         d^2 = (d(a) / (2 sqrt a))^2 + (u sqrt a)^2
//     exp(a)          d^2 = (e^a d(a))^2 + (4 u e^a)^2             2^x is promised within 2 units in the last place,
//     erf(a)          d^2 = (erf'(a) d(a))^2 + (8 u |erf a|)^2     erf within 4; such a unit is at most 2 u
//     tanh(a)         d^2 = (t d(a))^2 + (8 u |tanh a|)^2          tanh within 4; t is the slope, at most 1
//
// 2^-126 is added for what underflows. What follows for a dot product b + sum w_i x_i of n exact terms, with partial
// sums s_1 .. s_n (one term after the other, as the library promises; the product's rounding counts for targets
// without fma):
//
//     d = u sqrt(sum s_i^2 + sum (w_i x_i)^2)  <=  u sqrt(2 n) max |s_i|
//
// For the softmax: a shift of all scores cancels, so the row's maximum is taken as exact. It is computed with powers of
// two, so log2(e) is multiplied in somewhere: into the scale, or, where a cap, a bias or a sink comes between, into
// those by themselves: 2 u more of each, for the constant and for its product. Sines and cosines of the rotary
// embedding come from a table: within u of the truth, which is half a unit in the last place of 1.
//
// A result agrees when it is within 8 deviations. For up to 64 roundings of one size that is the worst case as well;
// beyond, the worst case grows with n where this grows with sqrt(n), and no such luck occurs: of all that the tests
// compute nothing is further off than 2.3 deviations. test_bound.cpp shows the mistakes that this finds. Where tokens
// are equal their errors are too, which is not independent: tests of such inputs say what they allow instead.
#pragma once

#include <cmath>
#include <cstddef>
#include <limits>

namespace ladon_test {

inline constexpr double unit = 0x1p-24;
inline constexpr double underflow = 0x1p-126;
inline constexpr double deviations_allowed = 8;

struct Real {
  double value = 0;
  double deviation = 0;

  Real() = default;
  Real(double exact) : value(exact) {}
  Real(double mean, double off) : value(mean), deviation(off) {}

  double bound() const { return deviations_allowed * deviation; }
};

// `value` as a float32 operation gives it: operands that were off shift it by a and b, and it is rounded itself.
inline Real rounded(double value, double a = 0, double b = 0, double units = 1) {
  const double own = units * unit * std::abs(value) + underflow;
  return {value, std::sqrt(a * a + b * b + own * own)};
}

inline Real operator+(Real a, Real b) { return rounded(a.value + b.value, a.deviation, b.deviation); }
inline Real operator-(Real a, Real b) { return rounded(a.value - b.value, a.deviation, b.deviation); }
inline Real operator*(Real a, Real b) {
  return rounded(a.value * b.value, a.value * b.deviation, b.value * a.deviation);
}
inline Real operator/(Real a, Real b) {
  const double quotient = a.value / b.value;
  return rounded(quotient, a.deviation / b.value, quotient * b.deviation / b.value);
}
inline Real sqrt(Real a) {
  const double root = std::sqrt(a.value);
  // the slope is not a good guide where the deviation is as large as the value
  return rounded(root, a.deviation == 0 ? 0 : a.deviation / (root + std::sqrt(std::fdim(a.value, a.deviation))));
}
inline Real exp(Real a) {
  const double power = std::exp(a.value);
  return rounded(power, power * a.deviation, 0, 4);
}
inline Real erf(Real a) {
  constexpr double two_over_root_pi = 1.1283791670955126;
  return rounded(std::erf(a.value), a.deviation * two_over_root_pi * std::exp(-a.value * a.value), 0, 8);
}

inline Real tanh(Real a) {
  // the slope is steepest at the end nearest to 0 of where the argument may be
  const double nearest = std::tanh(std::fdim(std::abs(a.value), a.bound()));
  return rounded(std::tanh(a.value), a.deviation * (1 - nearest * nearest), 0, 8);
}

// A long row goes in blocks of at least 256 keys. The maximum of each further block corrects what came before it, by
// 2^(old maximum - new): that difference is rounded (all of them together are at most |s - m|), so is the power, and
// so are the products with the sums.
inline double corrections_of(std::size_t keys) { return static_cast<double>(keys / 256); }
inline Real corrected(Real weight, Real below_maximum, std::size_t keys) {
  if (corrections_of(keys) == 0) return weight;
  const double units = 5 * std::sqrt(corrections_of(keys)) + std::abs(below_maximum.value);
  return rounded(weight.value, weight.deviation, 0, units);
}

// The distance of a float32 result from a Real, as a share of what is allowed: <= 1 agrees. NaN agrees with NaN only;
// what came from infinities can be any such thing and is not asked for; an infinity that was put there is exact.
inline double distance(float actual, Real expected) {
  constexpr double infinite = std::numeric_limits<double>::infinity();
  if (std::isnan(expected.value)) return std::isnan(actual) ? 0 : infinite;
  if (expected.deviation == 0) return static_cast<double>(actual) == expected.value ? 0 : infinite;
  if (std::isinf(expected.value) || !std::isfinite(expected.deviation)) return 0;
  const double off = std::abs(static_cast<double>(actual) - expected.value);
  if (off == 0) return 0;
  return std::isnan(off) ? infinite : off / expected.bound();
}

}  // namespace ladon_test
