// SPDX-License-Identifier: Apache-2.0
// Position encodings. Rotary position embedding (RoPE, arXiv 2104.09864) rotates pairs of features of queries and keys.
// The angle is proportional to the token's position, so a score depends on the distance between query and key.
//     angle(position, pair) = position / scaling * base^(-2 pair / width)
#pragma once

#include <ladon/detail/config/quiet_begin.hpp>

#include <concepts>
#include <cstddef>

#include <ladon/checks.hpp>
#include <ladon/detail/config/compiler.hpp>
#include <ladon/detail/vec/elementary.hpp>

namespace LADON_NAMESPACE {

// The two features of a head that form pair i:
//     neighbours   features 2i and 2i + 1 (the paper, llama2.c)
//     halves       features i and i + width / 2 (Hugging Face)
enum class Pairing { neighbours, halves };

// The cosines and sines of all angles, [pairs][positions]. `Width` features of each head are rotated.
template <std::size_t Positions, std::size_t Width>
struct RotaryTable {
  static_assert(Width > 0 && Width % 2 == 0, "ladon: rotary embedding turns pairs, so its width is even and not 0");
  static_assert(Positions > 0, "ladon: a rotary table needs at least one position");
  float cosine[Width / 2][Positions];
  float sine[Width / 2][Positions];

  // Stores the cosine and the sine of `angle`, each times `factor`.
  constexpr void set(std::size_t pair, std::size_t position, double angle, double factor = 1) noexcept {
    const auto rotation = detail::vec::cosine_and_sine(angle < 0 ? -angle : angle);
    cosine[pair][position] = static_cast<float>(factor * rotation.cosine);
    sine[pair][position] = static_cast<float>(angle < 0 ? -factor * rotation.sine : factor * rotation.sine);
  }
};

namespace position {

// No position encoding.
struct Unrotated {
  struct Data {};
  static constexpr bool rotates = false;
  static constexpr std::size_t width = 0;
};

// Rotary position embedding of the first `Width` features of each head. Each token is rotated by the angles of one
// position in the table:
//     key j      data.offset + j
//     query i    data.offset + cache.length before the call + i    in extend
//     query i    data.offset + shape.keys - shape.queries + i      in every other function
//
// The offset of a mask has no influence. Precondition: the table contains a position for every token (checks.hpp).
template <Pairing P, std::size_t Width, std::size_t Positions>
struct Rotary {
  static constexpr bool rotates = true;
  static constexpr bool optional = false;  // whether a null table means that a call does not rotate
  static constexpr Pairing pairing = P;
  static constexpr std::size_t width = Width;
  static constexpr std::size_t positions = Positions;
  using Table = RotaryTable<Positions, Width>;
  struct Data {
    const Table* table = nullptr;
    std::size_t offset = 0;
    LADON_CALLER_MEMBER
  };
};

// Whether T has the members of a position encoding that rotates.
template <class T>
concept Rotating =
    std::same_as<typename T::Table, RotaryTable<T::positions, T::width>> && requires(const typename T::Data& data) {
      { T::pairing } -> std::convertible_to<Pairing>;
      { data.table } -> std::convertible_to<const typename T::Table*>;
      { data.offset } -> std::convertible_to<std::size_t>;
    };

// A position encoding: Unrotated, Rotary, or a type that is derived from one of them.
template <class T>
concept Policy = std::default_initializable<typename T::Data> && requires {
  { T::rotates } -> std::convertible_to<bool>;
} && (!T::rotates || Rotating<T>);

}  // namespace position

// Fills `table`. Each position is divided by `scaling` (arXiv 2306.15595). Preconditions: `base` >= 1 and `scaling` >
// 0. Does not call libm, so the table has the same bits in constant evaluation and at run time.
template <std::size_t Positions, std::size_t Width>
constexpr void fill_rotary_table(RotaryTable<Positions, Width>& table, double base = 10000,
                                 double scaling = 1) noexcept {
  for (std::size_t pair = 0; pair < Width / 2; ++pair) {
    const double exponent = -2.0 * static_cast<double>(pair) / Width;
    const double frequency = detail::vec::power_double(base, exponent) / scaling;
    for (std::size_t position = 0; position < Positions; ++position) {
      table.set(pair, position, detail::vec::unfused(static_cast<double>(position) * frequency));
    }
  }
}

// Example: constexpr auto table = rotary_table<512, 8>();
template <std::size_t Positions, std::size_t Width>
constexpr RotaryTable<Positions, Width> rotary_table(double base = 10000, double scaling = 1) noexcept {
  RotaryTable<Positions, Width> table{};
  fill_rotary_table(table, base, scaling);
  return table;
}

}  // namespace LADON_NAMESPACE
#include <ladon/detail/config/quiet_end.hpp>
