// SPDX-License-Identifier: Apache-2.0
// A pack in one vector register, based on xsimd 8.1 to 14. array.hpp documents the interface. No other file includes
// xsimd. Where xsimd lacks an instruction, this file calls the intrinsic.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>
#include <utility>

// GCC 12 warns about its own AVX-512 intrinsics (GCC bug 105593).
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wuninitialized"
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#endif
#include <xsimd/xsimd.hpp>
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic pop
#endif

#include <ladon/detail/config/compiler.hpp>
#include <ladon/detail/vec/array.hpp>

namespace LADON_NAMESPACE::detail::vec {

// Lane i is lane Index[i] of `a` followed by `b`. xsimd has only some of these shuffles.
template <std::size_t... Index, class Pack>
LADON_INLINE Pack shuffle(const Pack& a, const Pack& b) noexcept {
  using Batch = typename Pack::Batch;
#if LADON_HAS_SHUFFLE
  typedef float Floats __attribute__((vector_size(Pack::lanes * sizeof(float))));
  const auto mixed =
      __builtin_shufflevector(ladon::bit_cast<Floats>(a.batch), ladon::bit_cast<Floats>(b.batch), Index...);
  return Pack(ladon::bit_cast<Batch>(mixed));
#else
  alignas(64) float from[2 * Pack::lanes], to[Pack::lanes];
  a.batch.store_aligned(from);
  b.batch.store_aligned(from + Pack::lanes);
  std::size_t lane = 0;
  ((to[lane++] = from[Index]), ...);
  return Pack(Batch::load_aligned(to));
#endif
}

template <class Pack>
using LaneIndices = std::make_index_sequence<Pack::lanes>;

// Lane i of each quad (four neighbouring lanes) is lane Pick[i] of the same quad of `a` (0 to 3) or `b` (4 to 7).
template <std::size_t... Pick, class Pack>
LADON_INLINE Pack pick_of_fours(const Pack& a, const Pack& b) noexcept {
  constexpr std::size_t pick[] = {Pick...};
  return [&]<std::size_t... J>(std::index_sequence<J...>) {
    return shuffle<(pick[J % 4] < 4 ? J / 4 * 4 + pick[J % 4] : Pack::lanes + J / 4 * 4 + pick[J % 4] - 4)...>(a, b);
  }(LaneIndices<Pack>{});
}

// With 16 lanes, returns quads First and Second of `a`, then quads First and Second of `b`. With 8 lanes, returns quad
// First of `a`, then quad First of `b`.
template <std::size_t First, std::size_t Second, class Pack>
LADON_INLINE Pack combine_quads(const Pack& a, const Pack& b) noexcept {
  constexpr std::size_t pick[] = {First, Second}, n = Pack::lanes;
  return [&]<std::size_t... J>(std::index_sequence<J...>) {
    return shuffle<(J / (n / 2) * n + pick[J % (n / 2) / 4] * 4 + J % 4)...>(a, b);
  }(LaneIndices<Pack>{});
}

// Lane i is lane (i + By) % lanes of `a`.
template <std::size_t By, class Pack>
LADON_INLINE Pack rotate_lanes_down(const Pack& a) noexcept {
  return [&]<std::size_t... J>(std::index_sequence<J...>) {
    return shuffle<((J + By) % Pack::lanes)...>(a, a);
  }(LaneIndices<Pack>{});
}

// Adds neighbouring blocks of Width lanes in rows 2 i and 2 i + 1 (below: a and b), and joins the sums in row i, for
// i < lanes / Width / 2. With four lanes:
//     Width 1    a0 + a1, b0 + b1, a2 + a3, b2 + b3
//     Width 2    a0 + a2, a1 + a3, b0 + b2, b1 + b3
template <std::size_t Width, class Pack>
LADON_INLINE void add_pairs(Pack (&row)[Pack::lanes]) noexcept {
  constexpr std::size_t n = Pack::lanes;
  LADON_UNROLLED_FOR(i, n / Width / 2) {
    const Pack a = row[2 * i], b = row[2 * i + 1];
    row[i] = [&]<std::size_t... J>(std::index_sequence<J...>) {
      return shuffle<(J % (2 * Width) < Width ? J : n + J - Width)...>(a, b) +
             shuffle<(J % (2 * Width) < Width ? J + Width : n + J)...>(a, b);
    }(LaneIndices<Pack>{});
  }
}

// Transposes blocks of 4 x 4 lanes, then exchanges blocks across the diagonal. xsimd takes twice as many instructions.
template <class Pack>
LADON_INLINE void transpose_square(Pack (&row)[Pack::lanes]) noexcept {
  constexpr std::size_t n = Pack::lanes;
  static_assert(n == 4 || n == 8 || n == 16);
  LADON_UNROLL
  for (std::size_t i = 0; i < n; i += 4) {
    const Pack a = pick_of_fours<0, 4, 1, 5>(row[i], row[i + 1]), b = pick_of_fours<0, 4, 1, 5>(row[i + 2], row[i + 3]);
    const Pack c = pick_of_fours<2, 6, 3, 7>(row[i], row[i + 1]), d = pick_of_fours<2, 6, 3, 7>(row[i + 2], row[i + 3]);
    row[i] = pick_of_fours<0, 1, 4, 5>(a, b);
    row[i + 1] = pick_of_fours<2, 3, 6, 7>(a, b);
    row[i + 2] = pick_of_fours<0, 1, 4, 5>(c, d);
    row[i + 3] = pick_of_fours<2, 3, 6, 7>(c, d);
  }
  if constexpr (n == 8) {
    LADON_UNROLLED_FOR(c, 4) {
      const Pack a = row[c], b = row[c + 4];
      row[c] = combine_quads<0, 0>(a, b);
      row[c + 4] = combine_quads<1, 1>(a, b);
    }
  } else if constexpr (n == 16) {
    LADON_UNROLLED_FOR(c, 4) {
      const Pack a = combine_quads<0, 2>(row[c], row[c + 4]), b = combine_quads<0, 2>(row[c + 8], row[c + 12]);
      const Pack d = combine_quads<1, 3>(row[c], row[c + 4]), e = combine_quads<1, 3>(row[c + 8], row[c + 12]);
      row[c] = combine_quads<0, 2>(a, b);
      row[c + 8] = combine_quads<1, 3>(a, b);
      row[c + 4] = combine_quads<0, 2>(d, e);
      row[c + 12] = combine_quads<1, 3>(d, e);
    }
  }
}

// Returns `neon` for packs of four lanes on 64-bit Arm, otherwise `other`. On 64-bit Arm, calls of xsimd compile
// slowly: g++ 12 takes 20 s instead of 11 s for test_encoder.cpp.
#if defined(__aarch64__)
#define LADON_NEON_OR(neon, other) \
  if constexpr (N == 4)            \
    return neon;                   \
  else                             \
    return other
#else
#define LADON_NEON_OR(neon, other) return other
#endif

// Returns a + b, a - b or a * b. clang++ may reorder the intrinsics of xsimd, but not operators of its own vector
// types behind LADON_AS_WRITTEN.
#if defined(__clang__)
#define LADON_ARITHMETIC(operation, neon)                               \
  LADON_AS_WRITTEN                                                      \
  typedef float Floats __attribute__((vector_size(N * sizeof(float)))); \
  return ladon::bit_cast<Batch>(ladon::bit_cast<Floats>(a.batch) operation ladon::bit_cast<Floats>(b.batch))
#else
#define LADON_ARITHMETIC(operation, neon) LADON_NEON_OR(Batch(neon(a.batch, b.batch)), a.batch operation b.batch)
#endif

// Returns the result of the x86 intrinsic for N lanes, such as _mm_max_ps, _mm256_max_ps or _mm512_max_ps.
#define LADON_X86(operation, ...)                               \
  if constexpr (N == 4) return _mm_##operation(__VA_ARGS__);    \
  if constexpr (N == 8) return _mm256_##operation(__VA_ARGS__); \
  if constexpr (N == 16) return _mm512_##operation(__VA_ARGS__)

// Returns the maximum or minimum. The order of operands decides about NaN (array.hpp), and versions of xsimd differ in
// this order. V8 compiles pmax and pmin with swapped operands to one instruction each, but Emscripten's _mm_max_ps to
// four.
#if defined(__wasm_simd128__)
#define LADON_EXTREME(name) return Batch(wasm_f32x4_p##name(b.batch, a.batch))
#elif LADON_SSE2
#define LADON_EXTREME(name) LADON_X86(name##_ps, a.batch, b.batch)
#else
#define LADON_EXTREME(name) LADON_NEON_OR(Batch(v##name##q_f32(a.batch, b.batch)), (xsimd::name)(a.batch, b.batch))
#endif

template <std::size_t N>
inline constexpr bool has_register = !std::is_void_v<xsimd::make_sized_batch_t<float, N>>;

// See the pragma in array.hpp.
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Warray-bounds"
#endif
template <std::size_t N>
struct XsimdPack {
  static_assert(has_register<N>, "ladon: the target has no vector register of this many floats");
  using Batch = xsimd::make_sized_batch_t<float, N>;
  using Integers = xsimd::batch<std::int32_t, typename Batch::arch_type>;
  using Mask = typename Batch::batch_bool_type;
  static constexpr std::size_t lanes = N;
  using Arg = const XsimdPack&;
  Batch batch;

  XsimdPack() = default;
  LADON_INLINE XsimdPack(const Batch& b) noexcept : batch(b) {}
  LADON_INLINE XsimdPack(const typename Batch::register_type& b) noexcept : batch(b) {}

  static LADON_INLINE XsimdPack broadcast(float x) noexcept { return Batch(x); }
  static LADON_INLINE XsimdPack lane_index() noexcept {
    alignas(64) static constexpr float index[16] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15};
    static_assert(N <= 16);
    return Batch::load_aligned(index);
  }
  static LADON_INLINE Mask every_lane(bool value) noexcept {
#if defined(__AVX512F__)
    if constexpr (N == 16) return Mask(static_cast<__mmask16>(value ? 0xffff : 0));
#endif
    return Mask(value);
  }
  // Without mask registers, bit i of `bits` is put into the significand of 1.0f in lane i, which then exceeds 1 if the
  // bit is set.
  static LADON_INLINE Mask lanes_of(std::uint32_t bits) noexcept {
#if defined(__AVX512F__)
    if constexpr (N == 16) return Mask(static_cast<__mmask16>(bits));
#endif
    alignas(64) static constexpr std::uint32_t bit_of_lane[16] = {1,       1 << 1,  1 << 2,  1 << 3, 1 << 4,  1 << 5,
                                                                  1 << 6,  1 << 7,  1 << 8,  1 << 9, 1 << 10, 1 << 11,
                                                                  1 << 12, 1 << 13, 1 << 14, 1 << 15};
    alignas(64) float lane_bits[N];
    std::memcpy(lane_bits, bit_of_lane, sizeof(lane_bits));
    const Batch one(1.0f), all(ladon::bit_cast<float>(bits));
    return one < xsimd::bitwise_or(xsimd::bitwise_and(all, Batch::load_aligned(lane_bits)), one);
  }
  static LADON_INLINE XsimdPack load(const float* from) noexcept { return Batch::load_unaligned(from); }
  // Precondition: `from` is aligned to 16 bytes. SSE2 instructions can then read the operand from memory.
  static LADON_INLINE XsimdPack load_aligned(const float* from) noexcept
    requires(N == 4)
  {
    return Batch::load_aligned(from);
  }
#if defined(__AVX512VL__)
  static LADON_INLINE auto first_lanes(std::size_t n) noexcept {
    return static_cast<std::conditional_t<N == 16, __mmask16, __mmask8>>((1u << n) - 1);
  }
#endif
  static LADON_INLINE XsimdPack load_partial(const float* from, std::size_t n) noexcept {
#if defined(__AVX512VL__)
    LADON_X86(maskz_loadu_ps, first_lanes(n), from);
#endif
    alignas(64) float lane[N] = {};
    std::memcpy(lane, from, n * sizeof(float));
    return Batch::load_aligned(lane);
  }
  LADON_INLINE void store(float* to) const noexcept { batch.store_unaligned(to); }
  LADON_INLINE void store_partial(float* to, std::size_t n) const noexcept {
#if defined(__AVX512VL__)
    LADON_X86(mask_storeu_ps, to, first_lanes(n), batch);
#endif
    alignas(64) float lane[N];
    batch.store_aligned(lane);
    std::memcpy(to, lane, n * sizeof(float));
  }

  friend LADON_INLINE XsimdPack operator+(Arg a, Arg b) noexcept { LADON_ARITHMETIC(+, vaddq_f32); }
  friend LADON_INLINE XsimdPack operator-(Arg a, Arg b) noexcept { LADON_ARITHMETIC(-, vsubq_f32); }
  friend LADON_INLINE XsimdPack in_order(Arg a) noexcept {
    return vec::in_order(static_cast<typename Batch::register_type>(a.batch));
  }
  static LADON_INLINE XsimdPack multiply(Arg a, Arg b) noexcept { LADON_ARITHMETIC(*, vmulq_f32); }
  friend LADON_INLINE XsimdPack operator*(Arg a, Arg b) noexcept {
    const XsimdPack product = multiply(a, b);
    if constexpr (LADON_DETERMINISTIC) return unfused(static_cast<typename Batch::register_type>(product.batch));
    return product;
  }
  // On Arm, xsimd 8.1 only approximates quotients. 32-bit Arm divides lane by lane.
  friend LADON_INLINE XsimdPack operator/(Arg a, Arg b) noexcept {
#if defined(__ARM_NEON) && !defined(__aarch64__)
    return Batch(static_cast<float32x4_t>(a.batch) / static_cast<float32x4_t>(b.batch));
#else
    LADON_NEON_OR(Batch(vdivq_f32(a.batch, b.batch)), a.batch / b.batch);
#endif
  }

  // xsimd::fma rounds twice for sixteen lanes (xsimd 8.1), for four lanes (AVX2), and on 64-bit Arm (xsimd 8.1).
  friend LADON_INLINE XsimdPack fma(Arg a, Arg b, Arg c) noexcept {
#if LADON_DETERMINISTIC
    return a * b + c;
#else
#if LADON_FMA
    LADON_X86(fmadd_ps, a.batch, b.batch, c.batch);
#elif defined(__aarch64__)
    if constexpr (N == 4) return Batch(vfmaq_f32(c.batch, a.batch, b.batch));
#elif defined(__wasm_relaxed_simd__)
    if constexpr (N == 4) return Batch(wasm_f32x4_relaxed_madd(a.batch, b.batch, c.batch));
#elif defined(__clang__) && !defined(__ARM_NEON)
    return a * b + c;
#endif
    return xsimd::fma(a.batch, b.batch, c.batch);
#endif
  }
  // AVX-512: one instruction, where g++ makes two of fma and a blend. Exponentials between the steps of a tile then
  // take 2.9 instead of 2.4 cycles a pack (Zen 5).
  friend LADON_INLINE XsimdPack fma_or_zero(const Mask& zero, Arg a, Arg b, Arg c) noexcept {
#if defined(__AVX512F__) && LADON_FMA && !LADON_DETERMINISTIC
    if constexpr (N == 16) {
      const auto elsewhere = static_cast<__mmask16>(~static_cast<__mmask16>(zero));
      return Batch(_mm512_maskz_fmadd_ps(elsewhere, a.batch, b.batch, c.batch));
    }
#endif
    return blend(zero, XsimdPack(Batch(0.0f)), fma(a, b, c));
  }
  // On Arm, xsimd only approximates square roots. 32-bit Arm computes them lane by lane.
  friend LADON_INLINE XsimdPack sqrt(Arg a) noexcept {
#if defined(__ARM_NEON) && !defined(__aarch64__)
    auto lanes = static_cast<float32x4_t>(a.batch);
    LADON_UNROLLED_FOR(i, 4) lanes[i] = sqrt_scalar(lanes[i]);
    return Batch(lanes);
#else
    LADON_NEON_OR(Batch(vsqrtq_f32(a.batch)), xsimd::sqrt(a.batch));
#endif
  }

  friend LADON_INLINE XsimdPack maximum(Arg a, Arg b) noexcept { LADON_EXTREME(max); }
  friend LADON_INLINE XsimdPack minimum(Arg a, Arg b) noexcept { LADON_EXTREME(min); }
  friend LADON_INLINE Mask operator<(Arg a, Arg b) noexcept {
    LADON_NEON_OR(Mask(vcltq_f32(a.batch, b.batch)), a.batch < b.batch);
  }
  friend LADON_INLINE Mask operator<=(Arg a, Arg b) noexcept {
    LADON_NEON_OR(Mask(vcleq_f32(a.batch, b.batch)), a.batch <= b.batch);
  }
  friend LADON_INLINE Mask operator==(Arg a, Arg b) noexcept {
    LADON_NEON_OR(Mask(vceqq_f32(a.batch, b.batch)), a.batch == b.batch);
  }
  friend LADON_INLINE XsimdPack blend(const Mask& where, Arg a, Arg b) noexcept {
    LADON_NEON_OR(Batch(vbslq_f32(where, a.batch, b.batch)), (xsimd::select)(where, a.batch, b.batch));
  }

  friend LADON_INLINE XsimdPack copy_sign(Arg a, Arg b) noexcept {
    LADON_NEON_OR(Batch(vbslq_f32(vdupq_n_u32(0x80000000u), b.batch, a.batch)),
                  xsimd::bitwise_or((xsimd::abs)(a.batch), xsimd::bitwise_and(b.batch, Batch(-0.0f))));
  }
  friend LADON_INLINE XsimdPack low_bits_to_exponent(Arg a) noexcept {
    LADON_NEON_OR(Batch(vreinterpretq_f32_s32(vshlq_n_s32(vreinterpretq_s32_f32(a.batch), 23))),
                  ladon::bit_cast<Batch>(ladon::bit_cast<Integers>(a.batch) << 23));
  }
#if defined(__AVX512F__)
  static LADON_INLINE Batch lookup(__m512 table, Arg a) noexcept {
    const auto entries = [&](__m512 number) { return _mm512_permutexvar_ps(_mm512_castps_si512(number), table); };
    if constexpr (N == 16) return Batch(entries(a.batch));
    if constexpr (N == 8) return Batch(_mm512_castps512_ps256(entries(_mm512_castps256_ps512(a.batch))));
    if constexpr (N == 4) return Batch(_mm512_castps512_ps128(entries(_mm512_castps128_ps512(a.batch))));
  }
  friend LADON_INLINE XsimdPack entry_at_low_bits(const float (&table)[16], Arg a) noexcept {
    return lookup(_mm512_load_ps(table), a);
  }
  friend LADON_INLINE XsimdPack low_bits_to_power(Arg a) noexcept {
    const auto root = ladon::bit_cast<Integers>(lookup(_mm512_castsi512_ps(_mm512_load_si512(exp2_eighths)), a));
    return ladon::bit_cast<Batch>(root + (ladon::bit_cast<Integers>(a.batch) << 20));
  }
#endif

  static LADON_INLINE void transpose(XsimdPack (&row)[N]) noexcept { transpose_square(row); }

  static LADON_INLINE XsimdPack add_rows(XsimdPack (&row)[N]) noexcept {
    add_pairs<1>(row);
    add_pairs<2>(row);
    if constexpr (N > 4) add_pairs<4>(row);
    if constexpr (N > 8) add_pairs<8>(row);
    return row[0];
  }

  friend LADON_INLINE float reduce_max(Arg a) noexcept {
    XsimdPack largest = maximum(a, rotate_lanes_down<1>(a));
    largest = maximum(largest, rotate_lanes_down<2>(largest));
    if constexpr (N > 4) largest = maximum(largest, rotate_lanes_down<4>(largest));
    if constexpr (N > 8) largest = maximum(largest, rotate_lanes_down<8>(largest));
    return largest.batch.get(0);
  }
  friend LADON_INLINE float reduce_add(Arg a) noexcept {
#if XSIMD_VERSION_MAJOR >= 9
    return xsimd::reduce_add(a.batch);
#else
    return xsimd::hadd(a.batch);
#endif
  }
};

#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic pop
#endif

}  // namespace LADON_NAMESPACE::detail::vec
