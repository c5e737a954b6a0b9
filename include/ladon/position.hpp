// Rotary position embedding (RoPE, arXiv 2104.09864): pairs of a head's features are turned by an angle that grows with
// the token's position, in queries and keys alike, so that their product knows the distance between them.
//
//     angle(position, pair) = position / scaling * base^(-2 pair / width)
#pragma once

#include <cstddef>
#include <cstdint>

#include <ladon/detail/target/compiler.hpp>

namespace ladon::inline LADON_ABI {

// Which features are turned together: 2i and 2i + 1 (the paper, llama2.c), or i and i + width / 2 (Hugging Face).
enum class Pairing { neighbours, halves };

// Cosines and sines of Positions positions for heads of which Width features turn: [pairs][positions].
template <std::size_t Positions, std::size_t Width>
struct RotaryTable {
  static_assert(Width > 0 && Width % 2 == 0, "ladon: rotary embedding turns pairs, so its width is even and not 0");
  static_assert(Positions > 0, "ladon: a rotary table needs at least one position");
  float cosine[Width / 2][Positions];
  float sine[Width / 2][Positions];
};

// Scores without rotary embedding.
struct NoRotary {
  struct Data {};
  static constexpr bool turns = false;
};

// Scores whose queries and keys are turned. Width features of each head turn, from the first; the rest stay. Key j
// stands at position offset + j, and query i where the mask has it by default (mask/offset.hpp), offset further.
// Precondition: a table, with all these positions (checked: expects.hpp).
template <Pairing P, std::size_t Width, std::size_t Positions>
struct Rotary {
  static constexpr bool turns = true;
  static constexpr Pairing pairing = P;
  static constexpr std::size_t width = Width;
  static constexpr std::size_t positions = Positions;
  using Table = RotaryTable<Positions, Width>;
  struct Data {
    const Table* table = nullptr;
    std::size_t offset = 0;
  };
};

namespace detail {

// Functions of double for tables, in constant evaluation as at run time, and without libm: errors near 1e-15.

constexpr double exp_of(double x) noexcept {
  constexpr double ln2 = 0.693147180559945309417;
  const auto n = static_cast<int>(x / ln2 + (x < 0 ? -0.5 : 0.5));
  const double rest = x - n * ln2;
  double sum = 1, term = 1;
  for (int i = 1; i < 20; ++i) sum += term *= rest / i;
  return sum * ladon::bit_cast<double>(static_cast<std::uint64_t>(1023 + n) << 52);
}

// 2 artanh((m - 1) / (m + 1)) + n ln 2 with x = m 2^n, m in [1, 2)
constexpr double log_of(double x) noexcept {
  const auto bits = ladon::bit_cast<std::uint64_t>(x);
  const auto n = static_cast<int>(bits >> 52) - 1023;
  const double m = ladon::bit_cast<double>((bits & 0xfffffffffffffull) | (1023ull << 52));
  const double z = (m - 1) / (m + 1);
  double sum = 0, power = z;
  for (int i = 1; i < 40; i += 2, power *= z * z) sum += power / i;
  return 2 * sum + n * 0.693147180559945309417;
}

struct CosineAndSine {
  double cosine, sine;
};
constexpr CosineAndSine turn_by(double angle) noexcept {
  // pi / 2 in two parts: the first has 33 bits, so its product with a quarter's number is exact
  constexpr double first = 1.57079632673412561417, second = 6.07710050650619224932e-11;
  const auto quarter = static_cast<std::int64_t>(angle / (first + second) + 0.5);
  const double x = (angle - static_cast<double>(quarter) * first) - static_cast<double>(quarter) * second;
  double cosine = 1, sine = x, even = 1, odd = x;
  for (int i = 2; i < 22; i += 2) {
    cosine += even *= -x * x / (i * (i - 1));
    sine += odd *= -x * x / (i * (i + 1));
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

}  // namespace detail

// Fills a table for the given base; positions are divided by `scaling` (linear position interpolation,
// arXiv 2306.15595).
template <std::size_t Positions, std::size_t Width>
constexpr void fill_rotary_table(RotaryTable<Positions, Width>& table, double base = 10000,
                                 double scaling = 1) noexcept {
  for (std::size_t pair = 0; pair < Width / 2; ++pair) {
    const double share = -2.0 * static_cast<double>(pair) / Width;
    const double frequency = detail::exp_of(share * detail::log_of(base)) / scaling;
    for (std::size_t position = 0; position < Positions; ++position) {
      const auto turned = detail::turn_by(static_cast<double>(position) * frequency);
      table.cosine[pair][position] = static_cast<float>(turned.cosine);
      table.sine[pair][position] = static_cast<float>(turned.sine);
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
