// SPDX-License-Identifier: Apache-2.0
// 2^x, e^x, erf and tanh of packs, without branches and libm, and functions of doubles for tables. 2^z is 2^n * 2^f
// with n = round(z) and f = z - n. e^z is 2^n * e^f with n = round(z / ln 2) and f = z - n ln 2. Polynomials compute
// 2^f and e^f.
//
// The largest errors in units in the last place, over all floats (tests/test_elementary.cpp). Multiplying by 2^n rounds
// a subnormal result only once. NaN gives NaN.
//   function                          allowed   with fma   without fma
//   exp2_of_nonpositive               2         0.96       1.23
//   exp2_of_nonpositive with table    2         1.08       -
//   exp                               2         0.90       1.17
//   erf                               4         2.74       2.88
//   tanh                              4         2.63       2.73
#pragma once

#include <cstddef>
#include <cstdint>
#include <numbers>
#include <type_traits>

#include <ladon/detail/config/compiler.hpp>
#include <ladon/detail/vec/array.hpp>

namespace LADON_NAMESPACE::detail::vec {

// Adding 1.5 * 2^23 to x, |x| < 2^21, rounds x to an integer, ties to even. The sum and the integer have the same low
// 16 bits.
inline constexpr float round_to_low_bits = 0x1.8p23f;

// Adding 1.5 * 2^23 + 127 to x rounds x to an integer n. The low byte of the sum is n + 127, the exponent of 2^n.
inline constexpr float rounding_magic = round_to_low_bits + 127;

// With loads_constants, hides the values, so that each use loads a constant from memory.
template <std::size_t N>
LADON_INLINE constexpr decltype(auto) load_constants(const float (&constants)[N]) noexcept {
  if constexpr (target::Current::loads_constants) {
    return opaque(&constants[0]);
  } else {
    return (constants);  // a reference to the array
  }
}

template <class Pack, std::size_t N>
LADON_INLINE constexpr Pack polynomial(const float (&coefficients)[N], const Pack& x) noexcept {
  auto&& c = load_constants(coefficients);
  Pack sum = Pack::broadcast(c[N - 1]);
  LADON_UNROLL
  for (std::size_t i = N - 1; i > 0; --i) sum = fma(sum, x, Pack::broadcast(c[i - 1]));
  return sum;
}

// A polynomial for (2^f - 1) / f, |f| <= 1/2. The relative error of 2^f is 0.27 * 2^-24. The relative error of 2^f - 1,
// which erf uses, is 0.67 * 2^-24.
inline constexpr float exp2_fraction[] = {6.931471825e-1f, 2.402264774e-1f, 5.550332367e-2f,
                                          9.618436918e-3f, 1.339887502e-3f, 1.535336196e-4f};

// Computes N polynomials together to hide latency: a pack takes 7.7 cycles with 8 packs, 10.5 with one (Cascade Lake).
template <class Pack, std::size_t N, std::size_t Terms>
LADON_INLINE constexpr void polynomials(const float (&coefficients)[Terms], const Pack (&x)[N],
                                        Pack (&sum)[N]) noexcept {
  auto&& c = load_constants(coefficients);
  LADON_UNROLLED_FOR(i, N) sum[i] = Pack::broadcast(c[Terms - 1]);
  LADON_UNROLL_COEFFICIENTS
  for (std::size_t t = Terms - 1; t > 0; --t) {
    const Pack term = Pack::broadcast(c[t - 1]);
    LADON_UNROLLED_FOR(i, N) sum[i] = fma(sum[i], x[i], term);
  }
}

inline constexpr float exp2_constants[] = {rounding_magic, -127, 1};

// A polynomial for 2^f - 1, |f| <= 1/16. The relative error of 2^f is 0.33 * 2^-24.
inline constexpr float exp2_sixteenth[] = {-1.833273267e-8f, 6.931471825e-1f, 2.402641028e-1f, 5.549890175e-2f};

// Adding 1.5 * 2^20 to x rounds x to a multiple k/8. The low bits of the sum are the integer k.
inline constexpr float eighths_magic = 0x1.8p20f;

// Replaces each x by 2^x. Precondition: x <= 127.
//
// With the table: 2^x = 2^(k/8) * 2^f with k = round(8 x) and f = x - k/8. For x < -126, the result is 0. x = -inf
// raises the exception "invalid". Beside a tile's products, a pack takes 2.4 cycles, and 3.6 without the table (Zen 5).
template <class Pack, std::size_t N>
  requires(uses_exp2_table)
LADON_INLINE constexpr void exp2_of_nonpositive(Pack (&x)[N]) noexcept {
  const Pack magic = Pack::broadcast(eighths_magic), smallest = Pack::broadcast(-126);
  Pack t[N], f[N], p[N];
  if (std::is_constant_evaluated()) {  // constant expressions must not compute inf - inf
    LADON_UNROLLED_FOR(i, N) x[i] = maximum(Pack::broadcast(-127), x[i]);
  }
  LADON_UNROLLED_FOR(i, N) t[i] = in_order(x[i] + magic);
  LADON_UNROLLED_FOR(i, N) f[i] = in_order(t[i] - magic);
  LADON_UNROLLED_FOR(i, N) f[i] = x[i] - f[i];
  LADON_UNROLLED_FOR(i, N) t[i] = low_bits_to_power(t[i]);
  polynomials(exp2_sixteenth, f, p);
  LADON_UNROLLED_FOR(i, N) x[i] = fma_or_zero(x[i] < smallest, t[i], p[i], t[i]);
}
// Without the table, 2^x is exactly 0 for x <= -126.5.
template <class Pack, std::size_t N>
  requires(!uses_exp2_table)
LADON_INLINE constexpr void exp2_of_nonpositive(Pack (&x)[N]) noexcept {
  const float* const c = load_constants(exp2_constants);
  const Pack magic = Pack::broadcast(c[0]), smallest = Pack::broadcast(c[1]);
  Pack t[N], p[N];
  LADON_UNROLLED_FOR(i, N) x[i] = maximum(smallest, x[i]);
  LADON_UNROLLED_FOR(i, N) t[i] = in_order(x[i] + magic);  // low byte: n + 127; 0 makes 2^n 0
  LADON_UNROLLED_FOR(i, N) p[i] = in_order(t[i] - magic);
  LADON_UNROLLED_FOR(i, N) x[i] = x[i] - p[i];
  polynomials(exp2_fraction, x, p);
  const Pack one = Pack::broadcast(c[2]);
  LADON_UNROLLED_FOR(i, N) p[i] = fma(p[i], x[i], one);
  LADON_UNROLLED_FOR(i, N) x[i] = p[i] * low_bits_to_exponent(t[i]);
}
// For one pack. In an array, the pack would stay in memory: 6% more instructions (Cortex-M55).
template <class Pack>
LADON_INLINE constexpr Pack exp2_of_nonpositive(const Pack& x) noexcept {
  if constexpr (uses_exp2_table) {
    Pack result[] = {x};
    exp2_of_nonpositive(result);
    return result[0];
  } else {
    const Pack magic = Pack::broadcast(rounding_magic);
    const Pack z = maximum(Pack::broadcast(-127.0f), x);
    const Pack t = in_order(z + magic);
    const Pack f = z - in_order(t - magic);
    return fma(polynomial(exp2_fraction, f), f, Pack::broadcast(1)) * low_bits_to_exponent(t);
  }
}

inline constexpr float log2_e = std::numbers::log2e_v<float>;
// ln 2 is about ln2_first + ln2_second. ln2_first has 15 significant bits, so its product with n is exact.
inline constexpr float ln2_first = 0x1.62e4p-1f;
inline constexpr float ln2_second = 0x1.7f7d1cp-20f;

// A polynomial for (e^f - 1 - f) / f^2, |f| <= ln(2)/2. The relative error is 0.054 * 2^-24 for e^f, and 0.13 * 2^-24
// for e^f - 1 (tanh).
inline constexpr float exp_tail[] = {4.999999404e-1f, 1.666651666e-1f, 4.166810215e-2f, 8.369192481e-3f,
                                     1.383890165e-3f};

// Returns e^x, which is already 0 at x = -105, and +inf at 89.
template <class Pack>
LADON_INLINE constexpr Pack exp(const Pack& x) noexcept {
  const Pack one = Pack::broadcast(1), magic = Pack::broadcast(rounding_magic);
  const Pack z = minimum(Pack::broadcast(89.0f), maximum(Pack::broadcast(-105.0f), x));
  const Pack n = in_order(in_order(fma(z, Pack::broadcast(log2_e), magic)) - magic);
  const Pack f = fma(n, Pack::broadcast(-ln2_second), fma(n, Pack::broadcast(-ln2_first), z));
  const Pack p = fma(fma(polynomial(exp_tail, f), f, one), f, one);
  // 2^n may exceed the range of floats, so it is computed as two exact powers.
  const Pack first = in_order(fma(n, Pack::broadcast(0.5f), magic)), second = (n - (first - magic)) + magic;
  return p * low_bits_to_exponent(first) * low_bits_to_exponent(second);
}

// A polynomial for log2(erfc(a)) / a, a in [0, 4]. The relative error of erf is 0.089 * 2^-24 (with degree 7: 0.59 *
// 2^-24).
inline constexpr float log2_erfc[] = {-1.627907038e+0f, -9.184474349e-1f, -1.482795030e-1f,
                                      2.764359303e-2f,  2.053831704e-4f,  -2.374308649e-3f,
                                      8.935785736e-4f,  -1.635285153e-4f, 1.257518761e-5f};

// The magnitude of erf is 1 - 2^z with z = log2(erfc |x|) = n + f. It is computed as -(s m + (s - 1)) with s = 2^n and
// m = 2^f - 1, so that no digits cancel. erfc(4) = 2^-25.95, so |x| > 4 gives 1.
template <class Pack>
LADON_INLINE constexpr Pack erf(const Pack& x) noexcept {
  const Pack magic = Pack::broadcast(rounding_magic);
  const Pack a = minimum(Pack::broadcast(4.0f), copy_sign(x, Pack::broadcast(0)));
  const Pack z = polynomial(log2_erfc, a) * a;
  const Pack t = in_order(z + magic);
  const Pack f = z - in_order(t - magic);
  const Pack s = low_bits_to_exponent(t);
  const Pack m = polynomial(exp2_fraction, f) * f;
  return copy_sign(fma(s, m, s - Pack::broadcast(1)), x);
}
template <class Pack, std::size_t N>
LADON_INLINE constexpr void erf(Pack (&x)[N]) noexcept {
  const Pack magic = Pack::broadcast(rounding_magic), one = Pack::broadcast(1);
  Pack a[N], t[N], p[N];
  LADON_UNROLLED_FOR(i, N) a[i] = minimum(Pack::broadcast(4.0f), copy_sign(x[i], Pack::broadcast(0)));
  polynomials(log2_erfc, a, p);
  LADON_UNROLLED_FOR(i, N) {
    const Pack z = p[i] * a[i];
    t[i] = in_order(z + magic);
    a[i] = z - in_order(t[i] - magic);  // f of the function above
  }
  polynomials(exp2_fraction, a, p);
  LADON_UNROLLED_FOR(i, N) {
    const Pack s = low_bits_to_exponent(t[i]);
    x[i] = copy_sign(fma(s, p[i] * a[i], s - one), x[i]);
  }
}

// The magnitude of tanh is d / (d + 2) with d = e^(2 |x|) - 1. With s = 2^n and m = e^f - 1, d is s m + (s - 1), where
// no digits cancel. 1 - tanh(9.125) = 2^-25.3, so |x| > 9.125 gives 1.
template <class Pack>
LADON_INLINE constexpr Pack tanh(const Pack& x) noexcept {
  const Pack magic = Pack::broadcast(rounding_magic);
  const Pack a = minimum(Pack::broadcast(9.125f), copy_sign(x, Pack::broadcast(0)));
  const Pack z = a + a;
  const Pack t = in_order(fma(z, Pack::broadcast(log2_e), magic));
  const Pack n = in_order(t - magic);
  const Pack f = fma(n, Pack::broadcast(-ln2_second), fma(n, Pack::broadcast(-ln2_first), z));
  const Pack s = low_bits_to_exponent(t);
  const Pack m = fma(polynomial(exp_tail, f) * f, f, f);
  const Pack d = fma(s, m, s - Pack::broadcast(1));
  return copy_sign(d / (d + Pack::broadcast(2)), x);
}

// The functions below compute rotary tables (position.hpp). They call no libm, so constant evaluation and run time give
// equal values. Errors are about 1e-15: relative for e^x and ln x, absolute for cosine and sine.

// Precondition: |x| < 708.
constexpr double exp_double(double x) noexcept {
  constexpr double ln2 = 0.693147180559945309417;
  const auto n = static_cast<int>(x / ln2 + (x < 0 ? -0.5 : 0.5));
  const double rest = x - unfused(n * ln2);
  double sum = 1, term = 1;
  for (int i = 1; i < 20; ++i) sum += unfused(term *= rest / i);
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
  return 2 * sum + unfused(n * 0.693147180559945309417);
}

// Preconditions: `base` is valid for log_double, and exponent * ln(base) for exp_double.
constexpr double power_double(double base, double exponent) noexcept {
  return exp_double(unfused(exponent * log_double(base)));
}

// Precondition: |x| < 2^63.
constexpr double floor_double(double x) noexcept {
  const auto integer = static_cast<double>(static_cast<std::int64_t>(x));
  return integer > x ? integer - 1 : integer;
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
  const double x = (angle - static_cast<double>(quarter) * first) - unfused(static_cast<double>(quarter) * second);
  double cosine = 1, sine = x, even = 1, odd = x;
  for (int i = 2; i < 22; i += 2) {
    cosine += unfused(even *= -x * x / (i * (i - 1)));
    sine += unfused(odd *= -x * x / (i * (i + 1)));
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

}  // namespace LADON_NAMESPACE::detail::vec
