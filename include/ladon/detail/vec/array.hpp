// SPDX-License-Identifier: Apache-2.0
// A pack is a vector of floats with a fixed number of lanes. ArrayPack is the reference implementation: its lanes are a
// plain array. ArrayPack has any number of lanes, and works on any target and in constant evaluation. A microcontroller
// without vector registers computes with ArrayPacks of one lane.
//
// This file documents the interface of all packs. XsimdPack and HeliumPack have the same members. pack_xsimd.hpp and
// pack_helium.hpp document only the differences. Operations work lane by lane: lane i of the result depends only on
// lane i of the operands. The exceptions are transpose, add_rows, reduce_max and reduce_add.
#pragma once

#include <cstddef>
#include <cstdint>

#include <ladon/detail/build/compiler.hpp>
#include <ladon/detail/vec/exp2_table.hpp>
#include <ladon/detail/vec/scalar.hpp>

namespace LADON_NAMESPACE::detail::vec {

// Disables a wrong warning of GCC 12. If GCC 12 sees the size of the caller's array, it unrolls the loops over tokens
// and warns about iterations beyond the end of the array. The loops never reach these iterations, but the number of
// tokens is known at run time only.
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Warray-bounds"
#endif
template <std::size_t N>
struct ArrayPack {
  static_assert(N > 0, "ladon: a pack has at least one lane");
  static constexpr std::size_t lanes = N;
  float lane[N];

  // One boolean per lane: the result of a comparison.
  struct Mask {
    bool lane[N];
    friend LADON_INLINE constexpr Mask operator&(const Mask& a, const Mask& b) noexcept {
      return apply([&](std::size_t i) LADON_INLINE_LAMBDA { return a.lane[i] && b.lane[i]; });
    }
    friend LADON_INLINE constexpr Mask operator!(const Mask& a) noexcept {
      return apply([&](std::size_t i) LADON_INLINE_LAMBDA { return !a.lane[i]; });
    }
    // Returns the mask whose lane i is f(i). Only ArrayPack has this function.
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

  // Returns `x` in every lane. HeliumPack returns a HeliumBroadcast, which converts to a HeliumPack.
  static LADON_INLINE constexpr ArrayPack broadcast(float x) noexcept {
    return apply([&](std::size_t) LADON_INLINE_LAMBDA { return x; });
  }
  // Returns the pack 0, 1, 2, ...: lane i is i.
  static LADON_INLINE constexpr ArrayPack lane_index() noexcept {
    return apply([](std::size_t i) LADON_INLINE_LAMBDA { return static_cast<float>(i); });
  }
  // Returns the mask whose lane i is bit i of `bits`. Bit 0 is the lowest bit.
  static LADON_INLINE constexpr Mask lanes_of(std::uint32_t bits) noexcept {
    return Mask::apply([&](std::size_t i) LADON_INLINE_LAMBDA { return (bits >> i & 1) != 0; });
  }
  // Returns the mask that is `value` in every lane.
  static LADON_INLINE constexpr Mask every_lane(bool value) noexcept {
    return Mask::apply([&](std::size_t) LADON_INLINE_LAMBDA { return value; });
  }
  // Returns from[0 .. lanes - 1]: lane i is from[i]. `from` needs the alignment of a float only.
  static LADON_INLINE constexpr ArrayPack load(const float* from) noexcept {
    return apply([&](std::size_t i) LADON_INLINE_LAMBDA { return from[i]; });
  }
  // Returns from[0 .. n - 1] in the first `n` lanes and 0 in all other lanes. Precondition: n <= lanes. Memory behind
  // from[n - 1] is not read.
  static LADON_INLINE constexpr ArrayPack load_partial(const float* from, std::size_t n) noexcept {
    return apply([&](std::size_t i) LADON_INLINE_LAMBDA { return i < n ? from[i] : 0.0f; });
  }
  // Writes lane i to to[i]. `to` needs the alignment of a float only.
  LADON_INLINE constexpr void store(float* to) const noexcept {
    LADON_UNROLL
    for (std::size_t i = 0; i < N; ++i) to[i] = lane[i];
  }
  // Writes the first `n` lanes. Precondition: n <= lanes. Memory behind to[n - 1] is neither read nor written.
  LADON_INLINE constexpr void store_partial(float* to, std::size_t n) const noexcept {
    LADON_UNROLL
    for (std::size_t i = 0; i < N; ++i) {
      if (i < n) to[i] = lane[i];
    }
  }

  // Sums, differences, products and quotients are correctly rounded, with two exceptions. Helium and 32-bit NEON flush
  // subnormals to zero. On 32-bit NEON, xsimd only estimates quotients and square roots.
  friend LADON_INLINE constexpr ArrayPack operator+(const ArrayPack& a, const ArrayPack& b) noexcept {
    return apply([&](std::size_t i) LADON_INLINE_LAMBDA { return a.lane[i] + b.lane[i]; });
  }
  friend LADON_INLINE constexpr ArrayPack operator-(const ArrayPack& a, const ArrayPack& b) noexcept {
    return apply([&](std::size_t i) LADON_INLINE_LAMBDA { return a.lane[i] - b.lane[i]; });
  }
  friend LADON_INLINE constexpr ArrayPack operator*(const ArrayPack& a, const ArrayPack& b) noexcept {
    return apply([&](std::size_t i) LADON_INLINE_LAMBDA { return a.lane[i] * b.lane[i]; });
  }
  friend LADON_INLINE constexpr ArrayPack operator/(const ArrayPack& a, const ArrayPack& b) noexcept {
    return apply([&](std::size_t i) LADON_INLINE_LAMBDA { return a.lane[i] / b.lane[i]; });
  }
  // Returns a * b + c. The result is rounded once if fma_is_fused (scalar.hpp) is true, otherwise twice. All packs of a
  // target follow the same rule.
  friend LADON_INLINE constexpr ArrayPack fma(const ArrayPack& a, const ArrayPack& b, const ArrayPack& c) noexcept {
    return apply([&](std::size_t i) LADON_INLINE_LAMBDA { return fma_scalar(a.lane[i], b.lane[i], c.lane[i]); });
  }
  // Returns 0 in the lanes in which `zero` is true, and fma(a, b, c) in all other lanes. HeliumPack lacks this
  // function: only exp2_of_nonpositive with a table (elementary.hpp) calls it.
  friend LADON_INLINE constexpr ArrayPack fma_or_zero(const Mask& zero, const ArrayPack& a, const ArrayPack& b,
                                                      const ArrayPack& c) noexcept {
    return select(zero, broadcast(0), fma(a, b, c));
  }
  // Returns the square root of `a`, correctly rounded.
  friend LADON_INLINE constexpr ArrayPack sqrt(const ArrayPack& a) noexcept {
    return apply([&](std::size_t i) LADON_INLINE_LAMBDA { return sqrt_scalar(a.lane[i]); });
  }
  // Returns a > b ? a : b. If an operand is NaN, the result depends on the pack:
  //       result if          only a is NaN   b is NaN
  //       NEON vectors       NaN             NaN
  //       all other packs    b               NaN
  friend LADON_INLINE constexpr ArrayPack max(const ArrayPack& a, const ArrayPack& b) noexcept {
    return apply([&](std::size_t i) LADON_INLINE_LAMBDA { return max_scalar(a.lane[i], b.lane[i]); });
  }
  // Returns a < b ? a : b. If an operand is NaN, min returns the operand that max returns (table above).
  friend LADON_INLINE constexpr ArrayPack min(const ArrayPack& a, const ArrayPack& b) noexcept {
    return apply([&](std::size_t i) LADON_INLINE_LAMBDA { return min_scalar(a.lane[i], b.lane[i]); });
  }
  // The next operators compare each lane. The result is false in a lane in which `a` or `b` is NaN.
  friend LADON_INLINE constexpr Mask operator<(const ArrayPack& a, const ArrayPack& b) noexcept {
    return Mask::apply([&](std::size_t i) LADON_INLINE_LAMBDA { return a.lane[i] < b.lane[i]; });
  }
  friend LADON_INLINE constexpr Mask operator<=(const ArrayPack& a, const ArrayPack& b) noexcept {
    return Mask::apply([&](std::size_t i) LADON_INLINE_LAMBDA { return a.lane[i] <= b.lane[i]; });
  }
  friend LADON_INLINE constexpr Mask operator==(const ArrayPack& a, const ArrayPack& b) noexcept {
    return Mask::apply([&](std::size_t i) LADON_INLINE_LAMBDA { return a.lane[i] == b.lane[i]; });
  }
  // Returns `a` in the lanes in which `where` is true, and `b` in all other lanes.
  friend LADON_INLINE constexpr ArrayPack select(const Mask& where, const ArrayPack& a, const ArrayPack& b) noexcept {
    return apply([&](std::size_t i) LADON_INLINE_LAMBDA { return select_scalar(where.lane[i], a.lane[i], b.lane[i]); });
  }
  // Returns the magnitude of `a` with the sign of `b`.
  friend LADON_INLINE constexpr ArrayPack copy_sign(const ArrayPack& a, const ArrayPack& b) noexcept {
    constexpr std::uint32_t sign = 0x80000000u;
    return apply([&](std::size_t i) LADON_INLINE_LAMBDA {
      return ladon::bit_cast<float>((ladon::bit_cast<std::uint32_t>(a.lane[i]) & ~sign) |
                                    (ladon::bit_cast<std::uint32_t>(b.lane[i]) & sign));
    });
  }
  // Shifts the bits of each lane to the left by 23, so that the low byte becomes the exponent of a float. A low byte of
  // n + 127 gives exactly 2^n.
  friend LADON_INLINE constexpr ArrayPack low_bits_to_exponent(const ArrayPack& a) noexcept {
    return apply([&](std::size_t i) LADON_INLINE_LAMBDA {
      return ladon::bit_cast<float>(ladon::bit_cast<std::uint32_t>(a.lane[i]) << 23);
    });
  }
  // Returns 2^(k/8), correctly rounded. The low 12 bits of a lane of `a` are the low 12 bits of the integer k. The
  // upper bits of the lane are ignored. Precondition: the result is a normal number.
  friend LADON_INLINE constexpr ArrayPack low_bits_to_power(const ArrayPack& a) noexcept
    requires(uses_exp2_table)
  {
    return apply([&](std::size_t i) LADON_INLINE_LAMBDA {
      const auto bits = ladon::bit_cast<std::uint32_t>(a.lane[i]);
      return ladon::bit_cast<float>(exp2_eighths[bits % 8] + (bits << 20));
    });
  }
  // Looks up one entry of `table` for each lane: the index is the lowest four bits of the lane of `a`. `table` must be
  // aligned to 64 bytes. Only packs of targets with uses_exp2_table have this function.
  friend LADON_INLINE constexpr ArrayPack entry_at_low_bits(const float (&table)[16], const ArrayPack& a) noexcept
    requires(uses_exp2_table)
  {
    return apply([&](std::size_t i)
                     LADON_INLINE_LAMBDA { return table[ladon::bit_cast<std::uint32_t>(a.lane[i]) % 16]; });
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

  // Returns the sums of the rows: lane i is the sum of all lanes of row i. ArrayPack adds the lanes in the order
  // 0, 1, 2, ... XsimdPack and HeliumPack add pairs of lanes first, so the last bits of their sums differ. XsimdPack
  // and HeliumPack overwrite `row`.
  static LADON_INLINE constexpr ArrayPack add_rows(const ArrayPack (&row)[N]) noexcept {
    return apply([&](std::size_t i) LADON_INLINE_LAMBDA { return reduce_add(row[i]); });
  }

  // Returns the largest lane. If a lane is NaN, the result is unspecified.
  friend constexpr float reduce_max(const ArrayPack& a) noexcept {
    float largest = a.lane[0];
    for (std::size_t i = 1; i < N; ++i) largest = largest > a.lane[i] ? largest : a.lane[i];
    return largest;
  }
  // Returns the sum of the lanes. As in add_rows, the order of addition depends on the kind of pack.
  friend constexpr float reduce_add(const ArrayPack& a) noexcept {
    float sum = a.lane[0];
    for (std::size_t i = 1; i < N; ++i) sum += a.lane[i];
    return sum;
  }
};

#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic pop
#endif

}  // namespace LADON_NAMESPACE::detail::vec
