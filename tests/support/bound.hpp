// A bound for the difference of float32 and float64 results, derived operation by operation.
//
// A Real is a float64 value with the standard deviation of the float32 computation of this value. The oracle computes
// with Reals. So the bound of each result depends on epsilon, on the lengths of the sums, and on the magnitudes in the
// computation. Roundings are modelled as independent and unbiased, so deviations add as squares (Higham and Mary, "A
// new approach to probabilistic rounding error analysis", SIAM J. Sci. Comput. 41, 2019). With u = 2^-24, half of
// float's epsilon, and d(x) the deviation of x:
//
//     a + b, a - b    d^2 = d(a)^2 + d(b)^2 + (u |a + b|)^2                       one rounding, at most u (IEEE 754)
//     a * b           d^2 = (b d(a))^2 + (a d(b))^2 + (u |a b|)^2
//     a / b           d^2 = (d(a) / b)^2 + (a d(b) / b^2)^2 + (u |a / b|)^2
//     sqrt(a)         d^2 = (d(a) / (2 sqrt a))^2 + (u sqrt a)^2
//     exp(a)          d^2 = (e^a d(a))^2 + (4 u e^a)^2             2^x has an error of at most 2 ulp, and 1 ulp <= 2 u
//     erf(a)          d^2 = (erf'(a) d(a))^2 + (8 u |erf a|)^2     erf has an error of at most 4 ulp
//     tanh(a)         d^2 = (t d(a))^2 + (8 u |tanh a|)^2          tanh has at most 4 ulp; t is the slope, at most 1
//
// 2^-126 is added for underflow. These formulas give the deviation of a dot product b + sum w_i x_i of n exact terms
// with partial sums s_1 .. s_n. The library promises to add one term after the other. The rounding of the product
// counts for targets without fma:
//
//     d = u sqrt(sum s_i^2 + sum (w_i x_i)^2)  <=  u sqrt(2 n) max |s_i|
//
// The softmax ignores a shift of all scores, so the maximum of the row counts as exact. The softmax computes powers of
// two, so some factor contains log2(e): the scale, or, if a softcap, a bias or a sink follows the scale, each of these
// terms. Each term then has a further error of 2 u, for the constant and for the product. The rotary embedding takes
// sines and cosines from a table. Their error is at most u, half a unit in the last place of 1.
//
// A result agrees with the oracle if its error is at most 8 deviations. For up to 64 roundings of equal size, this
// bound is also the worst case. Beyond 64 roundings, the worst case grows with n, and the bound grows with sqrt(n). In
// practice the bound suffices: the largest error in all tests is 2.3 deviations. test_bound.cpp shows the mistakes that
// the bound finds. Equal tokens have equal errors, which are not independent. Tests with equal tokens state their own
// bounds.
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

// Returns `value` as the result of a float32 operation. The errors of the operands shift the result by a and b, and the
// result itself is rounded.
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
  // The derivative is a bad estimate where the deviation is as large as the value.
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
  // The derivative is largest where the argument, within its bound, is nearest to 0.
  const double nearest = std::tanh(std::fdim(std::abs(a.value), a.bound()));
  return rounded(std::tanh(a.value), a.deviation * (1 - nearest * nearest), 0, 8);
}

// A long row is computed in blocks of at least 256 keys. The maximum of each further block corrects the earlier results
// by the factor 2^(old maximum - new maximum). The difference, the power and the products with the sums are rounded.
// The errors of all differences together are at most |s - m|.
inline double corrections_of(std::size_t keys) { return static_cast<double>(keys / 256); }
inline Real corrected(Real weight, Real below_maximum, std::size_t keys) {
  if (corrections_of(keys) == 0) return weight;
  const double units = 5 * std::sqrt(corrections_of(keys)) + std::abs(below_maximum.value);
  return rounded(weight.value, weight.deviation, 0, units);
}

// Returns the distance of a float32 result from a Real, divided by the allowed distance: results up to 1 agree. NaN
// agrees only with NaN. Results of a computation with infinities are undefined, so any number agrees. An infinity of
// the input is exact.
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
