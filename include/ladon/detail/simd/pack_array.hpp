// The reference pack: lanes in a plain array. ArrayPack has any number of lanes, and works on any target and in
// constant evaluation. A microcontroller computes with packs of one lane.
//
// This file documents the interface of all packs. XsimdPack and HeliumPack have these members too; pack_xsimd.hpp and
// pack_helium.hpp document only differences. An operation works lane by lane: lane i of the result depends on lane i of
// the operands. The exceptions are transpose, add_rows, reduce_max and reduce_add.
#pragma once

#include <cstddef>
#include <cstdint>

#include <ladon/detail/simd/exp2_table.hpp>
#include <ladon/detail/simd/scalar.hpp>
#include <ladon/detail/target/compiler.hpp>

namespace ladon::inline LADON_ABI::detail::simd {

// GCC 12 unrolls the loops over tokens. GCC 12 then wrongly warns about iterations behind the run-time length, where
// the caller's array is short and visible.
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Warray-bounds"
#endif
template <std::size_t N>
struct ArrayPack {
  static_assert(N > 0, "ladon: a pack has at least one lane");
  static constexpr std::size_t lanes = N;
  float lane[N];

  // One truth value per lane: the result of a comparison.
  struct Mask {
    bool lane[N];
    friend LADON_INLINE constexpr Mask operator&(const Mask& a, const Mask& b) noexcept {
      return apply([&](std::size_t i) { return a.lane[i] && b.lane[i]; });
    }
    friend LADON_INLINE constexpr Mask operator!(const Mask& a) noexcept {
      return apply([&](std::size_t i) { return !a.lane[i]; });
    }
    // Returns the mask whose lane i is f(i). Only ArrayPack uses this function.
    template <class F>
    static LADON_INLINE constexpr Mask apply(F f) noexcept {
      Mask result;
      LADON_UNROLL
      for (std::size_t i = 0; i < N; ++i) result.lane[i] = f(i);
      return result;
    }
  };

  // Returns the pack whose lane i is f(i). Only ArrayPack has this function.
  template <class F>
  static LADON_INLINE constexpr ArrayPack apply(F f) noexcept {
    ArrayPack result;
    LADON_UNROLL
    for (std::size_t i = 0; i < N; ++i) result.lane[i] = f(i);
    return result;
  }

  // Returns x in every lane. HeliumPack returns a HeliumBroadcast, which converts to a HeliumPack.
  static LADON_INLINE constexpr ArrayPack broadcast(float x) noexcept {
    return apply([&](std::size_t) { return x; });
  }
  // Returns 0, 1, 2, ...: lane i is i.
  static LADON_INLINE constexpr ArrayPack lane_index() noexcept {
    return apply([](std::size_t i) { return static_cast<float>(i); });
  }
  // Returns the mask whose lane i is bit i of `bits`. Bit 0 is the lowest bit.
  static LADON_INLINE constexpr Mask lanes_of(std::uint32_t bits) noexcept {
    return Mask::apply([&](std::size_t i) { return (bits >> i & 1) != 0; });
  }
  // Returns the mask that is `value` in every lane.
  static LADON_INLINE constexpr Mask every_lane(bool value) noexcept {
    return Mask::apply([&](std::size_t) { return value; });
  }
  // Returns from[0 .. lanes - 1]: lane i is from[i]. `from` is aligned to a float.
  static LADON_INLINE constexpr ArrayPack load(const float* from) noexcept {
    return apply([&](std::size_t i) { return from[i]; });
  }
  // Returns from[0 .. n - 1] in the first n lanes and 0 in the others. Precondition: n <= lanes. The memory behind
  // from[n - 1] is not read.
  static LADON_INLINE constexpr ArrayPack load_partial(const float* from, std::size_t n) noexcept {
    return apply([&](std::size_t i) { return i < n ? from[i] : 0.0f; });
  }
  // Writes lane i to to[i]. `to` is aligned to a float.
  LADON_INLINE constexpr void store(float* to) const noexcept {
    LADON_UNROLL
    for (std::size_t i = 0; i < N; ++i) to[i] = lane[i];
  }
  // Writes the first n lanes. Precondition: n <= lanes. The memory behind to[n - 1] is neither read nor written.
  LADON_INLINE constexpr void store_partial(float* to, std::size_t n) const noexcept {
    LADON_UNROLL
    for (std::size_t i = 0; i < N; ++i) {
      if (i < n) to[i] = lane[i];
    }
  }

  // Sum, difference, product and quotient are correctly rounded. There are two exceptions: Helium and 32-bit NEON flush
  // subnormals to zero, and xsimd estimates quotients and roots on 32-bit NEON.
  friend LADON_INLINE constexpr ArrayPack operator+(const ArrayPack& a, const ArrayPack& b) noexcept {
    return apply([&](std::size_t i) { return a.lane[i] + b.lane[i]; });
  }
  friend LADON_INLINE constexpr ArrayPack operator-(const ArrayPack& a, const ArrayPack& b) noexcept {
    return apply([&](std::size_t i) { return a.lane[i] - b.lane[i]; });
  }
  friend LADON_INLINE constexpr ArrayPack operator*(const ArrayPack& a, const ArrayPack& b) noexcept {
    return apply([&](std::size_t i) { return a.lane[i] * b.lane[i]; });
  }
  friend LADON_INLINE constexpr ArrayPack operator/(const ArrayPack& a, const ArrayPack& b) noexcept {
    return apply([&](std::size_t i) { return a.lane[i] / b.lane[i]; });
  }
  // Returns a * b + c, rounded as fma_is_fused says (scalar.hpp). All packs of a target round in the same way.
  friend LADON_INLINE constexpr ArrayPack fma(const ArrayPack& a, const ArrayPack& b, const ArrayPack& c) noexcept {
    return apply([&](std::size_t i) { return fma_scalar(a.lane[i], b.lane[i], c.lane[i]); });
  }
  // Returns 0 where `zero` is true, and fma(a, b, c) elsewhere. HeliumPack lacks this function: only
  // exp2_of_nonpositive with a table (elementary.hpp) calls fma_or_zero.
  friend LADON_INLINE constexpr ArrayPack fma_or_zero(const Mask& zero, const ArrayPack& a, const ArrayPack& b,
                                                      const ArrayPack& c) noexcept {
    return select(zero, broadcast(0), fma(a, b, c));
  }
  // Returns the square root of a, correctly rounded.
  friend LADON_INLINE constexpr ArrayPack sqrt(const ArrayPack& a) noexcept {
    return apply([&](std::size_t i) { return sqrt_scalar(a.lane[i]); });
  }
  // Returns a > b ? a : b. A NaN in b is kept, so the order of the arguments matters. A NaN in a alone gives b; vectors
  // of 64-bit Arm and WebAssembly give NaN instead (pack_xsimd.hpp).
  friend LADON_INLINE constexpr ArrayPack max(const ArrayPack& a, const ArrayPack& b) noexcept {
    return apply([&](std::size_t i) { return max_scalar(a.lane[i], b.lane[i]); });
  }
  // Returns a < b ? a : b. NaN is treated as in max.
  friend LADON_INLINE constexpr ArrayPack min(const ArrayPack& a, const ArrayPack& b) noexcept {
    return apply([&](std::size_t i) { return min_scalar(a.lane[i], b.lane[i]); });
  }
  // Comparisons return false where a or b is NaN.
  friend LADON_INLINE constexpr Mask operator<(const ArrayPack& a, const ArrayPack& b) noexcept {
    return Mask::apply([&](std::size_t i) { return a.lane[i] < b.lane[i]; });
  }
  friend LADON_INLINE constexpr Mask operator<=(const ArrayPack& a, const ArrayPack& b) noexcept {
    return Mask::apply([&](std::size_t i) { return a.lane[i] <= b.lane[i]; });
  }
  friend LADON_INLINE constexpr Mask operator==(const ArrayPack& a, const ArrayPack& b) noexcept {
    return Mask::apply([&](std::size_t i) { return a.lane[i] == b.lane[i]; });
  }
  // Returns a where `where` is true, and b elsewhere.
  friend LADON_INLINE constexpr ArrayPack select(const Mask& where, const ArrayPack& a, const ArrayPack& b) noexcept {
    return apply([&](std::size_t i) { return select_scalar(where.lane[i], a.lane[i], b.lane[i]); });
  }
  // Returns the magnitude of a with the sign of b.
  friend LADON_INLINE constexpr ArrayPack copy_sign(const ArrayPack& a, const ArrayPack& b) noexcept {
    constexpr std::uint32_t sign = 0x80000000u;
    return apply([&](std::size_t i) {
      return ladon::bit_cast<float>((ladon::bit_cast<std::uint32_t>(a.lane[i]) & ~sign) |
                                    (ladon::bit_cast<std::uint32_t>(b.lane[i]) & sign));
    });
  }
  // Returns the bits of a, shifted left by 23. The low byte of the significand becomes the exponent of a power of two,
  // so a low byte of n + 127 gives exactly 2^n.
  friend LADON_INLINE constexpr ArrayPack low_bits_to_exponent(const ArrayPack& a) noexcept {
    return apply(
        [&](std::size_t i) { return ladon::bit_cast<float>(ladon::bit_cast<std::uint32_t>(a.lane[i]) << 23); });
  }
  // Returns 2^(k/8), correctly rounded, where the low 12 bits of a are the low 12 bits of the integer k.
  // Precondition: the result is a normal number.
  friend LADON_INLINE constexpr ArrayPack low_bits_to_power(const ArrayPack& a) noexcept
    requires(uses_exp2_table)
  {
    return apply([&](std::size_t i) {
      const auto bits = ladon::bit_cast<std::uint32_t>(a.lane[i]);
      return ladon::bit_cast<float>(exp2_eighths[bits % 8] + (bits << 20));
    });
  }

  // Transposes a square of rows in place: lane j of row i becomes lane i of row j.
  static LADON_INLINE constexpr void transpose(ArrayPack (&row)[N]) noexcept {
    for (std::size_t i = 1; i < N; ++i) {
      for (std::size_t j = 0; j < i; ++j) {
        const float below = row[i].lane[j];
        row[i].lane[j] = row[j].lane[i];
        row[j].lane[i] = below;
      }
    }
  }

  // Returns the sum of each row: lane i is the sum of the lanes of row i. Other packs overwrite the rows. The order of
  // addition differs between packs, and so do the last bits. ArrayPack adds from lane 0 upwards.
  static LADON_INLINE constexpr ArrayPack add_rows(const ArrayPack (&row)[N]) noexcept {
    return apply([&](std::size_t i) { return reduce_add(row[i]); });
  }

  // Returns the largest lane. The result is unspecified where a lane is NaN.
  friend constexpr float reduce_max(const ArrayPack& a) noexcept {
    float largest = a.lane[0];
    for (std::size_t i = 1; i < N; ++i) largest = largest > a.lane[i] ? largest : a.lane[i];
    return largest;
  }
  // Returns the sum of the lanes. The order of addition differs between packs, as in add_rows.
  friend constexpr float reduce_add(const ArrayPack& a) noexcept {
    float sum = a.lane[0];
    for (std::size_t i = 1; i < N; ++i) sum += a.lane[i];
    return sum;
  }
};

#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic pop
#endif

}  // namespace ladon::inline LADON_ABI::detail::simd
