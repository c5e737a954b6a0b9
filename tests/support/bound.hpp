// Computes a bound for the difference between float32 and float64 results, operation by operation.
//
// A Real is a float64 value with a deviation. The deviation is the standard deviation of the error that the float32
// computation of this value makes. The oracle computes with Reals. The bound of each result therefore depends on the
// rounding unit, on the number of terms of the sums, and on the magnitudes in the computation. Roundings are modelled
// as independent and unbiased, so the squares of deviations add up (Higham and Mary, "A new approach to probabilistic
// rounding error analysis", SIAM J. Sci. Comput. 41, 2019).
//
// The following table gives the square of the deviation d of each operation's result. d(a) and d(b) are the deviations
// of the operands, t is the largest slope of tanh near `a`, and u = 2^-24 is half of float's epsilon:
//     operation    d^2                                                    relative rounding error
//     a + b        d(a)^2 + d(b)^2 + (u |a + b|)^2                        at most u (IEEE 754)
//     a - b        d(a)^2 + d(b)^2 + (u |a - b|)^2                        at most u
//     a * b        (b d(a))^2 + (a d(b))^2 + (u |a b|)^2                  at most u
//     a / b        (d(a) / b)^2 + (a d(b) / b^2)^2 + (u |a / b|)^2        at most u
//     sqrt(a)      (d(a) / (2 sqrt a))^2 + (u sqrt a)^2                   at most u
//     exp(a)       (e^a d(a))^2 + (4 u e^a)^2                             at most 2 ulp, and 1 ulp <= 2 u
//     erf(a)       (erf'(a) d(a))^2 + (8 u |erf a|)^2                     at most 4 ulp
//     tanh(a)      (t d(a))^2 + (8 u |tanh a|)^2                          at most 4 ulp
//
// Each operation adds a deviation of 2^-126 for underflow. A dot product b + sum w_i x_i of exact numbers adds n
// products one after another. If s_1 .. s_n are the partial sums, the table gives this deviation:
//     d = u sqrt(sum s_i^2 + sum (w_i x_i)^2)  <=  u sqrt(2 n) max |s_i|
// The term with (w_i x_i)^2 counts the roundings of the products, for targets without fma.
//
// A shift of all scores does not change the softmax, so the maximum of a row is taken as exact. The library computes
// powers of two instead of powers of e, so it multiplies each score by log2(e). The factor log2(e) is included in the
// softcap. Without a softcap, it is included in the scale. Biases and sinks are also multiplied by log2(e). Each
// multiplication adds an error of 2 u: for the rounded constant and for the product. The rotary embedding reads sines
// and cosines from a table. The error of an entry is at most u, half a unit in the last place of 1.
//
// A result agrees with the oracle if its error is at most 8 deviations. For up to 64 roundings of equal size, no error
// can exceed this bound: n roundings have an error of at most n units and a deviation of sqrt(n) units, and n <= 8
// sqrt(n). For more roundings, an error could exceed the bound, but only if almost all roundings had the same sign. The
// largest error in all tests is 2.3 deviations. test_bound.cpp shows the mistakes that the bound finds. Equal tokens
// have equal errors, which are not independent. Tests with equal tokens therefore define separate bounds.
#pragma once

#include <algorithm>
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

// Returns `value` as the result of a float32 operation, with its deviation. The deviation has three parts: `a` and `b`
// come from the errors of the two operands, and `units` times the rounding unit comes from rounding the result.
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
// A sum of products of Reals. The deviation of the sum is that of operator* and operator+. Sum stores the square of the
// deviation (the variance), so an addition computes no square root. This saves time, because the oracle spends most of
// its time on sums of products.
class Sum {
 public:
  explicit Sum(Real first) : value_(first.value), variance_(first.deviation * first.deviation) {}

  // Adds a * b.
  void add_product(Real a, Real b) {
    const double product = a.value * b.value, from_a = b.value * a.deviation, from_b = a.value * b.deviation;
    value_ += product;
    variance_ += from_a * from_a + from_b * from_b + rounding(product) + rounding(value_);
  }

  Real total() const { return {value_, std::sqrt(variance_)}; }

 private:
  // Returns the variance (the square of the deviation) that the rounding of `result` adds.
  static double rounding(double result) {
    const double deviation = unit * std::abs(result) + underflow;
    return deviation * deviation;
  }

  double value_, variance_;
};

inline Real sqrt(Real a) {
  const double root = std::sqrt(a.value);
  // If the deviation of `a` is about as large as `a`, the derivative of the square root at `a` is a bad estimate. So
  // the formula uses the slope of the line between two points of the square root: at `a`, and at `a` minus the
  // deviation.
  return rounded(root, a.deviation == 0 ? 0 : a.deviation / (root + std::sqrt(std::fdim(a.value, a.deviation))));
}
inline Real exp(Real a) {
  const double power = std::exp(a.value), error = a.bound();
  // Where `a` may be wrong by more than 1, the derivative is a bad estimate, as above. The limit of 60 keeps the bounds
  // of later operations finite.
  const double growth = error > 1 ? std::expm1(std::min(error, 60.0)) / deviations_allowed : a.deviation;
  return rounded(power, power * growth, 0, 4);
}
inline Real erf(Real a) {
  constexpr double two_over_root_pi = 1.1283791670955126;
  return rounded(std::erf(a.value), a.deviation * two_over_root_pi * std::exp(-a.value * a.value), 0, 8);
}

inline Real tanh(Real a) {
  // The derivative of tanh, 1 - tanh^2, is largest at 0. So among the numbers within the error bound of `a`, the number
  // nearest to 0 has the largest derivative. `nearest` is the tanh of this number.
  const double nearest = std::tanh(std::fdim(std::abs(a.value), a.bound()));
  return rounded(std::tanh(a.value), a.deviation * (1 - nearest * nearest), 0, 8);
}

// Returns a weight of the softmax with a larger deviation, which includes the errors of corrections. A long row of
// scores is computed in blocks of at least 256 keys. If a block has a larger maximum than the earlier blocks, the
// earlier results are multiplied by a correction: 2^(old maximum - new maximum). The difference of the maxima, the
// power and the products are rounded. The errors of all differences together are at most |score - maximum| rounding
// units.
inline double corrections_of(std::size_t keys) { return static_cast<double>(keys / 256); }
inline Real corrected(Real weight, Real below_maximum, std::size_t keys) {
  if (corrections_of(keys) == 0) return weight;
  const double units = 5 * std::sqrt(corrections_of(keys)) + std::abs(below_maximum.value);
  return rounded(weight.value, weight.deviation, 0, units);
}

// Returns the error of the float32 number `actual`, divided by the bound of `expected`. If the quotient is at most 1,
// `actual` agrees with `expected`. An expected NaN agrees only with NaN. If the deviation is 0, `actual` must equal the
// expected value, even if this value is infinite. If the deviation is not 0, and the expected value or the deviation is
// infinite, any `actual` agrees.
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
