// SPDX-License-Identifier: Apache-2.0
// exp2, exp, erf and tanh of packs (vector registers of floats), without branches and without libm. exp2 and erf
// compute a power 2^z as 2^n * 2^f, with n = round(z) and f = z - n in [-1/2, 1/2]. exp and tanh compute a power e^z as
// 2^n * e^f, with n = round(z / ln 2) and f = z - n ln 2. A polynomial computes 2^f or e^f. 2^n is a float whose
// exponent is n. The softmax calls exp2_of_nonpositive. On some targets, exp2_of_nonpositive rounds z to a multiple of
// 1/8, and reads the power of this multiple from a table (exp2_table.hpp).
//
// The largest errors over all 2^32 floats, in units in the last place (tests/test_elementary.cpp measures these errors
// if LADON_TEST_STEP=1 is set):
//   function                                     allowed   with fma   without fma
//   exp2                                         2         0.96       1.23
//   exp2_of_nonpositive, if it reads no table    2         0.96       1.23
//   exp2_of_nonpositive, if it reads the table   2         1.08       -
//   exp                                          2         0.90       1.17
//   erf                                          4         2.74       2.88
//   tanh                                         4         2.63       2.73
//
// A subnormal result is rounded only once: its error is at most 0.95 times the spacing of subnormals. A constant
// expression does not compile with g++ if a result overflows, and with clang++ if a result is NaN.
//
// If the argument is NaN, the result is NaN.
//
// detail/target/layout.hpp defines tiles.
#pragma once

#include <cstddef>
#include <numbers>
#include <type_traits>

#include <ladon/detail/build/compiler.hpp>
#include <ladon/detail/vec/exp2_table.hpp>
#include <ladon/detail/vec/rounding.hpp>

namespace LADON_NAMESPACE::detail::vec {

// The constant is 1.5 * 2^23 + 127. Adding the constant to a float rounds the float to the nearest integer n, without a
// rounding instruction. The low byte of the sum is n + 127, which is the biased exponent of 2^n.
inline constexpr float rounding_magic = round_to_low_bits + 127;

// Calls f(0), f(1) ... f(N - 1), in a completely unrolled loop.
template <std::size_t N, class F>
LADON_INLINE constexpr void for_each_index(F f) noexcept {
  LADON_UNROLL
  for (std::size_t i = 0; i < N; ++i) f(i);
}

// Returns `constants`. If target::Current::loads_constants is true, the function hides the values from the compiler.
// The compiler then does not keep the constants in registers: each use of a constant loads the constant from memory.
template <std::size_t N>
LADON_INLINE constexpr decltype(auto) load_constants(const float (&constants)[N]) noexcept {
  if constexpr (target::Current::loads_constants) {
    return opaque(&constants[0]);
  } else {
    return (constants);  // a reference to the array
  }
}

// Returns c[0] + c[1] x + c[2] x^2 + ... by Horner's rule. The rule needs the fewest instructions, but each instruction
// waits for the result of the previous one. Callers hide this latency by computing several packs in a loop.
template <class Pack, std::size_t N>
LADON_INLINE constexpr Pack polynomial(const float (&coefficients)[N], const Pack& x) noexcept {
  auto&& c = load_constants(coefficients);
  Pack sum = Pack::broadcast(c[N - 1]);
  LADON_UNROLL
  for (std::size_t i = N - 1; i > 0; --i) sum = fma(sum, x, Pack::broadcast(c[i - 1]));
  return sum;
}

// Coefficients of (2^f - 1) / f for f in [-1/2, 1/2]. The relative error of 2^f is at most 0.27 * 2^-24. The relative
// error of 2^f - 1, which erf uses, is at most 0.67 * 2^-24. With a polynomial of one degree less, the error of exp2
// would be 2.0 instead of 0.9 units in the last place.
inline constexpr float exp2_fraction[] = {6.931471825e-1f, 2.402264774e-1f, 5.550332367e-2f,
                                          9.618436918e-3f, 1.339887502e-3f, 1.535336196e-4f};

// Computes sum[i] = c[0] + c[1] x[i] + ... for N packs. Each step of Horner's rule is computed for all packs before the
// next step, so the processor works on other packs while one pack waits for a result.
template <class Pack, std::size_t N, std::size_t Terms>
LADON_INLINE constexpr void polynomials(const float (&coefficients)[Terms], const Pack (&x)[N],
                                        Pack (&sum)[N]) noexcept {
  auto&& c = load_constants(coefficients);
  for_each_index<N>([&](std::size_t i) { sum[i] = Pack::broadcast(c[Terms - 1]); });
  LADON_UNROLL_COEFFICIENTS
  for (std::size_t t = Terms - 1; t > 0; --t) {
    const Pack term = Pack::broadcast(c[t - 1]);
    for_each_index<N>([&](std::size_t i) { sum[i] = fma(sum[i], x[i], term); });
  }
}

// Returns p * 2^n for an integer n in [-252, 254]. 2^n itself may be too large or too small for a float. The function
// therefore multiplies `p` by two powers 2^a and 2^b with a + b = n. p * 2^a is exact, so a subnormal result is rounded
// only once.
template <class Pack>
LADON_INLINE constexpr Pack times_power_of_two(const Pack& p, const Pack& n) noexcept {
  const Pack magic = Pack::broadcast(rounding_magic);
  const Pack first = fma(n, Pack::broadcast(0.5f), magic);
  const Pack second = (n - (first - magic)) + magic;
  return p * low_bits_to_exponent(first) * low_bits_to_exponent(second);
}

// Returns 2^x. An overflow gives +inf, and NaN gives NaN. If 2^x is too small even for a subnormal float, the result
// is 0.
template <class Pack>
LADON_INLINE constexpr Pack exp2(const Pack& x) noexcept {
  // Limiting x to [-151, 129] changes no result: 2^-151 is already rounded to 0, and 2^129 is already rounded to +inf.
  const Pack z = min(Pack::broadcast(129.0f), max(Pack::broadcast(-151.0f), x));
  const Pack n = (z + Pack::broadcast(rounding_magic)) - Pack::broadcast(rounding_magic);
  const Pack f = z - n;
  return times_power_of_two(fma(polynomial(exp2_fraction, f), f, Pack::broadcast(1)), n);
}

// The constants of exp2_of_nonpositive (the version without the table), apart from the coefficients of its polynomial.
inline constexpr float exp2_constants[] = {rounding_magic, -127, 1};

// Coefficients of 2^f - 1 for f in [-1/16, 1/16]: a minimax (Remez) polynomial. The relative error of 2^f
// is 0.33 * 2^-24.
inline constexpr float exp2_sixteenth[] = {-1.833273267e-8f, 6.931471825e-1f, 2.402641028e-1f, 5.549890175e-2f};

// Adding this constant (1.5 * 2^20) to x rounds x to k/8, the nearest multiple of 1/8. The low bits of the sum hold the
// integer k.
inline constexpr float eighths_magic = 0x1.8p20f;

// Replaces each x by 2^x. The function is for x <= 0, because the softmax subtracts the largest score from all scores
// before the call. NaN gives NaN. For 0 < x <= 127, the result is also correct. For larger x, the result is a wrong
// number instead of +inf.
//
// Each of the 12 or 13 instructions for a pack waits for the previous one. A processor looks about 100 instructions
// ahead. If the function computed one pack after another, these 100 instructions would contain too few independent
// instructions. The function therefore computes each step for all N packs before the next step.
//
// This version uses a table of powers: 2^x = 2^(k/8) * 2^f with k = round(8 x) and f = x - k/8. For x < -126, the
// result is exactly 0. For x = -inf, the function raises the floating-point flag "invalid operation".
//
// Cycles per pack of the version without the table of powers (AVX-512, Cascade Lake):
//     one pack at a time                   10.5
//     eight packs side by side             7.7
//     limit of the two arithmetic ports    7.0
//
// The version with the table has a shorter polynomial. One pack of exponentials takes 4 multiplications with the table,
// and 7 without. The total number of instructions is nearly the same. A tile of a matrix product keeps the multipliers
// busy, so fewer multiplications save time in a loop that computes a tile and exponentials. Zen 5 adds and multiplies
// in separate pipes. There, one pack of exponentials takes this number of cycles:
//   cycles per pack                  with the table   without
//   in a loop of exponentials only   4.0              4.6
//   added to the loop of a tile      2.4              3.6
template <class Pack, std::size_t N>
  requires(uses_exp2_table)
LADON_INLINE constexpr void exp2_of_nonpositive(Pack (&x)[N]) noexcept {
  const Pack magic = Pack::broadcast(eighths_magic), smallest = Pack::broadcast(-126);
  Pack t[N], f[N], p[N];
  if (std::is_constant_evaluated()) {  // constant expressions must not compute inf - inf
    for_each_index<N>([&](std::size_t i) { x[i] = max(Pack::broadcast(-127), x[i]); });
  }
  for_each_index<N>([&](std::size_t i) { t[i] = x[i] + magic; });
  for_each_index<N>([&](std::size_t i) { f[i] = t[i] - magic; });
  for_each_index<N>([&](std::size_t i) { f[i] = x[i] - f[i]; });
  for_each_index<N>([&](std::size_t i) { t[i] = low_bits_to_power(t[i]); });
  polynomials(exp2_sixteenth, f, p);
  for_each_index<N>([&](std::size_t i) { x[i] = fma_or_zero(x[i] < smallest, t[i], p[i], t[i]); });
}
// The version of exp2_of_nonpositive without the table. For x <= -126.5, the result is exactly 0. For x >= -101, the
// result is bit-identical to exp2(x). Between these limits, the last bit may differ from exp2(x) if
// target::Current::scales_fraction is true.
//
// This version takes 12 instructions. On AVX-512, the instructions vrndscale and vscalef would shorten this version to
// 10 instructions. AVX-512 uses the version with the table instead, which is still faster:
//   cycles per pack (Zen 5)          with the table   10 instructions without it
//   in a loop of exponentials only   4.0              4.2
//   added to the loop of a tile      2.4              3.1
template <class Pack, std::size_t N>
  requires(!uses_exp2_table)
LADON_INLINE constexpr void exp2_of_nonpositive(Pack (&x)[N]) noexcept {
  const float* const c = load_constants(exp2_constants);
  const Pack magic = Pack::broadcast(c[0]), smallest = Pack::broadcast(c[1]);
  Pack t[N], p[N];
  for_each_index<N>([&](std::size_t i) { x[i] = max(smallest, x[i]); });
  for_each_index<N>([&](std::size_t i) { t[i] = x[i] + magic; });  // n = -127: the low byte is 0, so 2^n becomes 0
  for_each_index<N>([&](std::size_t i) { p[i] = t[i] - magic; });
  for_each_index<N>([&](std::size_t i) { x[i] = x[i] - p[i]; });
  polynomials(exp2_fraction, x, p);
  if constexpr (target::Current::scales_fraction) {
    for_each_index<N>([&](std::size_t i) { t[i] = low_bits_to_exponent(t[i]); });
    for_each_index<N>([&](std::size_t i) { x[i] = fma(p[i], x[i] * t[i], t[i]); });
  } else {
    const Pack one = Pack::broadcast(c[2]);
    for_each_index<N>([&](std::size_t i) { p[i] = fma(p[i], x[i], one); });
    for_each_index<N>([&](std::size_t i) { x[i] = p[i] * low_bits_to_exponent(t[i]); });
  }
}
// Returns 2^x of one pack, for the same x and with the same bits as the functions for N packs above. Without the table,
// this function repeats the steps of the function for N packs instead of calling it with an array of one pack. g++ for
// a Cortex-M55 would keep such an array in memory, and attention of 16 tokens with 32 features in 4 heads would take 6%
// more instructions.
template <class Pack>
LADON_INLINE constexpr Pack exp2_of_nonpositive(const Pack& x) noexcept {
  if constexpr (uses_exp2_table) {
    Pack result[] = {x};
    exp2_of_nonpositive(result);
    return result[0];
  } else {
    const Pack magic = Pack::broadcast(rounding_magic);
    const Pack z = max(Pack::broadcast(-127.0f), x);
    const Pack t = z + magic;
    const Pack f = z - (t - magic);
    const Pack p = polynomial(exp2_fraction, f);
    if constexpr (target::Current::scales_fraction) {
      const Pack power = low_bits_to_exponent(t);
      return fma(p, f * power, power);
    } else {
      return fma(p, f, Pack::broadcast(1)) * low_bits_to_exponent(t);
    }
  }
}

// log2(e), and ln 2 as a sum of two parts. The first part of ln 2 has 15 significant bits, and the integer n has at
// most 8 bits. The product n * ln2_first is therefore exact, with and without fma.
inline constexpr float log2_e = std::numbers::log2e_v<float>;
inline constexpr float ln2_first = 0x1.62e4p-1f;
inline constexpr float ln2_second = 0x1.7f7d1cp-20f;

// Coefficients of (e^f - 1 - f) / f^2 for |f| <= ln(2)/2: a minimax (Remez) polynomial. The relative error of e^f
// is 0.054 * 2^-24. The relative error of e^f - 1, which tanh uses, is at most 0.13 * 2^-24.
inline constexpr float exp_tail[] = {4.999999404e-1f, 1.666651666e-1f, 4.166810215e-2f, 8.369192481e-3f,
                                     1.383890165e-3f};

// Returns e^x. An overflow gives +inf, and NaN gives NaN. If e^x is too small even for a subnormal float, the result
// is 0.
template <class Pack>
LADON_INLINE constexpr Pack exp(const Pack& x) noexcept {
  const Pack one = Pack::broadcast(1);
  // Limiting x to [-105, 89] changes no result: e^-105 is already rounded to 0, and e^89 is already rounded to +inf.
  const Pack z = min(Pack::broadcast(89.0f), max(Pack::broadcast(-105.0f), x));
  const Pack rounded = fma(z, Pack::broadcast(log2_e), Pack::broadcast(rounding_magic));
  const Pack n = rounded - Pack::broadcast(rounding_magic);
  const Pack f = fma(n, Pack::broadcast(-ln2_second), fma(n, Pack::broadcast(-ln2_first), z));
  return times_power_of_two(fma(fma(polynomial(exp_tail, f), f, one), f, one), n);
}

// Coefficients of log2(erfc(a)) / a for a in [0, 4]: a minimax (Remez) polynomial of degree 8. The fit minimises the
// relative error of erf, which is 0.089 * 2^-24. With degree 7, this error would be 0.59 * 2^-24. The larger `a` is,
// the less an error of log2(erfc(a)) changes erf. One polynomial therefore suffices for the whole interval.
inline constexpr float log2_erfc[] = {-1.627907038e+0f, -9.184474349e-1f, -1.482795030e-1f,
                                      2.764359303e-2f,  2.053831704e-4f,  -2.374308649e-3f,
                                      8.935785736e-4f,  -1.635285153e-4f, 1.257518761e-5f};

// Returns erf(x). The result has the sign of x. Its magnitude is 1 - 2^z with z = log2(erfc |x|). Let n = round(z), f =
// z - n, s = 2^n and m = 2^f - 1. Then 2^z is s (1 + m), so the magnitude is -(s m + (s - 1)). No digits cancel in s m
// + (s - 1). For small x, s is 1, so the magnitude is -m, and as accurate as the polynomial of m.
template <class Pack>
LADON_INLINE constexpr Pack erf(const Pack& x) noexcept {
  const Pack magic = Pack::broadcast(rounding_magic);
  // `a` is limited to 4, because erfc(4) = 2^-25.95. If erfc is below 2^-25, erf is rounded to 1.
  const Pack a = min(Pack::broadcast(4.0f), copy_sign(x, Pack::broadcast(0)));
  const Pack z = polynomial(log2_erfc, a) * a;
  const Pack t = z + magic;
  const Pack f = z - (t - magic);
  const Pack s = low_bits_to_exponent(t);
  const Pack m = polynomial(exp2_fraction, f) * f;
  return copy_sign(fma(s, m, s - Pack::broadcast(1)), x);
}
// Replaces each x by erf(x), with the same bits as the function above. Computes each step for all N packs before the
// next step, like exp2_of_nonpositive.
template <class Pack, std::size_t N>
LADON_INLINE constexpr void erf(Pack (&x)[N]) noexcept {
  const Pack magic = Pack::broadcast(rounding_magic), one = Pack::broadcast(1);
  Pack a[N], t[N], p[N];
  for_each_index<N>([&](std::size_t i) { a[i] = min(Pack::broadcast(4.0f), copy_sign(x[i], Pack::broadcast(0))); });
  polynomials(log2_erfc, a, p);
  for_each_index<N>([&](std::size_t i) {
    const Pack z = p[i] * a[i];
    t[i] = z + magic;
    a[i] = z - (t[i] - magic);  // f of the function above
  });
  polynomials(exp2_fraction, a, p);
  for_each_index<N>([&](std::size_t i) {
    const Pack s = low_bits_to_exponent(t[i]);
    x[i] = copy_sign(fma(s, p[i] * a[i], s - one), x[i]);
  });
}

// Returns tanh(x). The result has the sign of x. Its magnitude is d / (d + 2) with z = 2 |x| and d = e^z - 1. With n =
// round(z / ln 2), f = z - n ln 2, s = 2^n and m = e^f - 1, the power e^z is s (1 + m), so d = s m + (s - 1). No digits
// cancel in this sum. For small x, s is 1 and f is exactly z.
template <class Pack>
LADON_INLINE constexpr Pack tanh(const Pack& x) noexcept {
  const Pack magic = Pack::broadcast(rounding_magic);
  // `a` is limited to 9.125, because 1 - tanh(9.125) = 2^-25.3. Above 1 - 2^-25, tanh is rounded to 1.
  const Pack a = min(Pack::broadcast(9.125f), copy_sign(x, Pack::broadcast(0)));
  const Pack z = a + a;
  const Pack t = fma(z, Pack::broadcast(log2_e), magic);
  const Pack n = t - magic;
  const Pack f = fma(n, Pack::broadcast(-ln2_second), fma(n, Pack::broadcast(-ln2_first), z));
  const Pack s = low_bits_to_exponent(t);
  const Pack m = fma(polynomial(exp_tail, f) * f, f, f);
  const Pack d = fma(s, m, s - Pack::broadcast(1));
  return copy_sign(d / (d + Pack::broadcast(2)), x);
}

}  // namespace LADON_NAMESPACE::detail::vec
