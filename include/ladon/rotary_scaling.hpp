// SPDX-License-Identifier: Apache-2.0
// Rotary tables (position.hpp) from a model's config.json, as transformers 5 computes them, and tables for the patches
// of an image. Nothing here calls libm: constant evaluation and run time give the same bits.
//     static const auto table = ladon::rotary_table<4096, 64>(
//         {.kind = ladon::RotaryKind::llama3, .base = 500000, .factor = 8, .original_positions = 8192});
#pragma once

#include <ladon/detail/config/quiet_begin.hpp>

#include <cstddef>
#include <numbers>

#include <ladon/detail/config/compiler.hpp>
#include <ladon/detail/vec/elementary.hpp>
#include <ladon/position.hpp>

namespace LADON_NAMESPACE {

// The values of rope_type in config.json. f = base^(-2 pair / width) is the frequency without scaling.
//     none           f ("default" in config.json)
//     linear         f / factor (arXiv 2306.15595)
//     dynamic        f with a larger base, if the table has more than original_positions positions. Transformers scales
//                    the base for the length of the text; this table assumes a text as long as the table.
//     llama3         f for short wavelengths, f / factor for long wavelengths, a mixture for others
//     yarn           like llama3, with bounds of arXiv 2309.00071; attention_factor multiplies cosines and sines
//     longrope       f / factors[pair] (arXiv 2402.13753); attention_factor as for yarn
//     proportional   f / factor for the first `proportion` of the pairs. The other pairs are not rotated.
enum class RotaryKind { none, linear, dynamic, llama3, yarn, longrope, proportional };

// A member has the name of its key in config.json, unless its comment states another. The comment names the kind if
// only one kind uses the member. Preconditions: `base` > 1, `factor` > 0, each of `factors` > 0, and the members that
// the kind uses are set.
struct RotaryScaling {
  RotaryKind kind = RotaryKind::none;  // rope_type
  double base = 10000;                 // rope_theta
  double factor = 1;
  double original_positions = 0;     // original_max_position_embeddings; dynamic: max_position_embeddings
  double attention_factor = 0;       // 0: computed from `factor`
  double low_frequency_factor = 1;   // llama3: low_freq_factor
  double high_frequency_factor = 4;  // llama3: high_freq_factor
  double beta_fast = 32;             // yarn
  double beta_slow = 1;              // yarn
  bool truncate = true;              // yarn
  double proportion = 1;             // proportional: partial_rotary_factor
  const double* factors = nullptr;   // longrope: [width / 2], short_factor or long_factor
  bool negated = false;              // rotates by negative angles (NanoChat)

  // Returns the angle between two neighbouring positions, for a table of `positions` positions.
  constexpr double frequency(std::size_t pair, std::size_t width, std::size_t positions) const noexcept {
    const double w = static_cast<double>(width), exponent = -2 * static_cast<double>(pair) / w;
    const double f = detail::vec::power_double(base, exponent);
    if (kind == RotaryKind::none) return f;
    if (kind == RotaryKind::linear) return f / factor;
    if (kind == RotaryKind::longrope) return f / factors[pair];
    if (kind == RotaryKind::proportional)
      return static_cast<double>(pair) < detail::vec::floor_double(proportion * w / 2) ? f / factor : 0;
    if (kind == RotaryKind::dynamic) {
      const double length = static_cast<double>(positions);
      if (width == 2 || length <= original_positions) return f;
      const double growth = factor * length / original_positions - (factor - 1);
      return f * detail::vec::power_double(growth, w / (w - 2) * exponent);
    }
    const double share = kind == RotaryKind::yarn ? yarn_share(static_cast<double>(pair), w) : llama3_share(f);
    return share * f / factor + detail::vec::unfused((1 - share) * f);
  }
  // Returns the factor of all cosines and sines.
  constexpr double magnitude() const noexcept {
    if (kind != RotaryKind::yarn && kind != RotaryKind::longrope) return 1;
    if (attention_factor != 0) return attention_factor;
    if (factor <= 1) return 1;
    const double log_factor = detail::vec::log_double(factor);
    if (kind == RotaryKind::yarn) return detail::vec::unfused(0.1 * log_factor) + 1;
    return detail::vec::power_double(1 + log_factor / detail::vec::log_double(original_positions), 0.5);
  }

 private:
  static constexpr double between_0_and_1(double x) noexcept { return x < 0 ? 0 : x > 1 ? 1 : x; }
  // Return a share s from 0 to 1. The frequency of the pair is s * f / factor + (1 - s) * f, where f is its frequency
  // without scaling.
  constexpr double llama3_share(double f) const noexcept {
    const double turns = original_positions * f / (2 * std::numbers::pi);
    return between_0_and_1((high_frequency_factor - turns) / (high_frequency_factor - low_frequency_factor));
  }
  constexpr double yarn_share(double pair, double width) const noexcept {
    double low = pair_that_turns(beta_fast, width), high = pair_that_turns(beta_slow, width);
    if (truncate) low = detail::vec::floor_double(low), high = -detail::vec::floor_double(-high);
    low = low < 0 ? 0 : low;
    high = high < width - 1 ? high : width - 1;
    return between_0_and_1((pair - low) / (high == low ? 0.001 : high - low));
  }
  // Returns the number of the pair that turns `turns` times in original_positions tokens.
  constexpr double pair_that_turns(double turns, double width) const noexcept {
    return width * detail::vec::log_double(original_positions / (turns * 2 * std::numbers::pi)) /
           (2 * detail::vec::log_double(base));
  }
};

template <std::size_t Positions, std::size_t Width>
constexpr void fill_rotary_table(RotaryTable<Positions, Width>& table, const RotaryScaling& scaling) noexcept {
  const double factor = scaling.magnitude();
  for (std::size_t pair = 0; pair < Width / 2; ++pair) {
    const double frequency = scaling.frequency(pair, Width, Positions);
    for (std::size_t position = 0; position < Positions; ++position) {
      const double angle = detail::vec::unfused(static_cast<double>(position) * frequency);
      table.set(pair, position, scaling.negated ? -angle : angle, factor);
    }
  }
}
template <std::size_t Positions, std::size_t Width>
constexpr RotaryTable<Positions, Width> rotary_table(const RotaryScaling& scaling) noexcept {
  RotaryTable<Positions, Width> table{};
  fill_rotary_table(table, scaling);
  return table;
}

// Fills the table for an image of `rows` x `columns` patches, row by row, as DINOv3 rotates them (Pairing::halves). The
// first half of the pairs rotates by the patch's row, the other half by its column:
//     angle = 2 pi * centre * base^(-4 pair / Width)    `pair` counts from 0 in each half
//
// `centre` is the middle of the patch's row or column, if the image extends from -1 to 1.
//
// The patches follow `prefix` tokens, such as the class token. These tokens, and positions behind the image, are not
// rotated. Precondition: the table has `prefix` + `rows` * `columns` positions or more.
template <std::size_t Positions, std::size_t Width>
constexpr void fill_image_rotary_table(RotaryTable<Positions, Width>& table, std::size_t prefix, std::size_t rows,
                                       std::size_t columns, double base = 100) noexcept {
  static_assert(Width % 4 == 0, "ladon: a rotary table of an image has as many pairs for rows as for columns");
  const auto angle_of = [](std::size_t index, std::size_t count, double frequency) {
    return (static_cast<double>(2 * index + 1) / static_cast<double>(count) - 1) * frequency;
  };
  for (std::size_t pair = 0; pair < Width / 4; ++pair) {
    const double exponent = -4.0 * static_cast<double>(pair) / Width;
    const double frequency = 2 * std::numbers::pi * detail::vec::power_double(base, exponent);
    for (std::size_t position = 0; position < Positions; ++position) {
      const bool is_patch = position >= prefix && position - prefix < rows * columns;
      const std::size_t patch = is_patch ? position - prefix : 0;
      const double row = is_patch ? angle_of(patch / columns, rows, frequency) : 0;
      const double column = is_patch ? angle_of(patch % columns, columns, frequency) : 0;
      table.set(pair, position, row);
      table.set(pair + Width / 4, position, column);
    }
  }
}

}  // namespace LADON_NAMESPACE
#include <ladon/detail/config/quiet_end.hpp>
