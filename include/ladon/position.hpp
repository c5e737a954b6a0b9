// Rotary position embedding (RoPE, arXiv 2104.09864): pairs of a head's features are rotation by an angle that grows
// with the token's position, in queries and keys alike, so that their product knows the distance between them.
//
//     angle(position, pair) = position / scaling * base^(-2 pair / width)
#pragma once

#include <concepts>
#include <cstddef>

#include <ladon/detail/attention/rotary_table.hpp>
#include <ladon/detail/target/compiler.hpp>

namespace ladon::inline LADON_ABI {

// Which features are rotation together: 2i and 2i + 1 (the paper, llama2.c), or i and i + width / 2 (Hugging Face).
enum class Pairing { neighbours, halves };

// Cosines and sines of Positions positions for heads of which Width features turn: [pairs][positions].
template <std::size_t Positions, std::size_t Width>
struct RotaryTable {
  static_assert(Width > 0 && Width % 2 == 0, "ladon: rotary embedding turns pairs, so its width is even and not 0");
  static_assert(Positions > 0, "ladon: a rotary table needs at least one position");
  float cosine[Width / 2][Positions];
  float sine[Width / 2][Positions];
};

namespace position {

// No position encoding: queries and keys stay as they are projected.
struct None {
  struct Data {};
  static constexpr bool rotates = false;
};

// Rotates the first Width features of each head, in queries and keys; the other features stay. Key j stands at position
// offset + j. Query i stands where the mask has it by default (shape.hpp's Placement), offset further.
// Precondition: a table with all these positions (checked: checks.hpp).
template <Pairing P, std::size_t Width, std::size_t Positions>
struct Rotary {
  static constexpr bool rotates = true;
  static constexpr Pairing pairing = P;
  static constexpr std::size_t width = Width;
  static constexpr std::size_t positions = Positions;
  using Table = RotaryTable<Positions, Width>;
  struct Data {
    const Table* table = nullptr;
    std::size_t offset = 0;
  };
};

// What the kernels use of an encoding that rotates.
template <class T>
concept Rotating =
    std::same_as<typename T::Table, RotaryTable<T::positions, T::width>> && requires(const typename T::Data& data) {
      { T::pairing } -> std::convertible_to<Pairing>;
      { data.table } -> std::convertible_to<const typename T::Table*>;
      { data.offset } -> std::convertible_to<std::size_t>;
    };

// A position encoding: None, Rotary, or a type derived from one of the two.
template <class T>
concept Policy = std::default_initializable<typename T::Data> && requires {
  { T::rotates } -> std::convertible_to<bool>;
} && (!T::rotates || Rotating<T>);

}  // namespace position

// Fills a table for the given base; positions are divided by `scaling` (linear position interpolation,
// arXiv 2306.15595).
template <std::size_t Positions, std::size_t Width>
constexpr void fill_rotary_table(RotaryTable<Positions, Width>& table, double base = 10000,
                                 double scaling = 1) noexcept {
  for (std::size_t pair = 0; pair < Width / 2; ++pair) {
    const double share = -2.0 * static_cast<double>(pair) / Width;
    const double frequency = detail::exp_double(share * detail::log_double(base)) / scaling;
    for (std::size_t position = 0; position < Positions; ++position) {
      const auto rotation = detail::cosine_and_sine(static_cast<double>(position) * frequency);
      table.cosine[pair][position] = static_cast<float>(rotation.cosine);
      table.sine[pair][position] = static_cast<float>(rotation.sine);
    }
  }
}

// The same as a value, constexpr where asked: constexpr auto table = rotary_table<512, 8>().
template <std::size_t Positions, std::size_t Width>
constexpr RotaryTable<Positions, Width> rotary_table(double base = 10000, double scaling = 1) noexcept {
  RotaryTable<Positions, Width> table{};
  fill_rotary_table(table, base, scaling);
  return table;
}

}  // namespace ladon::inline LADON_ABI
