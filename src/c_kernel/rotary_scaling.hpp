// SPDX-License-Identifier: Apache-2.0
// Converts ladon_rotary_scaling into ladon::RotaryScaling. NAME.h must be included before this file.
#pragma once

#include <cstddef>
#include <span>

#include <ladon/rotary_scaling.hpp>

namespace c_kernel::inline LADON_ABI {

#ifdef __wasm32__
static_assert(offsetof(ladon_rotary_scaling, base) == 8 && offsetof(ladon_rotary_scaling, factors) == 80 &&
                  sizeof(ladon_rotary_scaling) == 96,
              "ladon: wasm/src/position-tables.ts writes this struct with other offsets");
#endif

// The bounds of the base and of the other numbers. With these bounds, no step of the computation overflows, and a
// 64-bit integer can hold the number of quarter turns of every angle.
constexpr bool is_base(double number) { return number >= 2 && number < 1e300; }
constexpr bool is_scale(double number) { return number >= 1e-6 && number < 1e30; }
constexpr bool is_zero(double number) { return number >= 0 && number <= 0; }

// Replaces the zeros of `from` by the defaults.
inline ladon::RotaryScaling with_defaults(const ladon_rotary_scaling& from) {
  const auto either = [](double given, double usual) { return is_zero(given) ? usual : given; };
  return {.kind = static_cast<ladon::RotaryKind>(from.kind),
          .base = either(from.base, 10000),
          .factor = either(from.factor, 1),
          .original_positions = from.original_positions,
          .attention_factor = from.attention_factor,
          .low_frequency_factor = either(from.low_frequency_factor, 1),
          .high_frequency_factor = either(from.high_frequency_factor, 4),
          .beta_fast = either(from.beta_fast, 32),
          .beta_slow = either(from.beta_slow, 1),
          .truncate = from.not_truncated == 0,
          .proportion = either(from.proportion, 1),
          .factors = from.factors,
          .negated = from.negated != 0};
}

// Returns whether a table of `pairs` pairs can be computed from the numbers that the kind reads.
inline bool is_sound(const ladon::RotaryScaling& s, std::size_t pairs) {
  using Rotary = ladon::RotaryKind;
  if (!is_base(s.base) || !is_scale(s.factor)) return false;
  if (!is_zero(s.attention_factor) && !is_scale(s.attention_factor)) return false;
  if (s.kind == Rotary::none || s.kind == Rotary::linear) return true;
  if (s.kind == Rotary::proportional) return is_scale(s.proportion) && s.proportion <= 1;
  if (!is_scale(s.original_positions)) return false;
  if (s.kind == Rotary::dynamic) return s.factor >= 1;
  if (s.kind == Rotary::llama3)
    return is_scale(s.low_frequency_factor) && is_scale(s.high_frequency_factor) &&
           s.high_frequency_factor > s.low_frequency_factor;
  if (s.kind == Rotary::yarn) return is_scale(s.beta_fast) && is_scale(s.beta_slow);
  if (s.kind != Rotary::longrope || s.original_positions < 2 || s.factors == nullptr) return false;
  for (const double factor : std::span(s.factors, pairs)) {
    if (!is_scale(factor)) return false;
  }
  return true;
}

}  // namespace c_kernel::inline LADON_ABI
