// Defines MaskForm and ScoreForm, which describe a mask or a score as plain data. The oracle computes from these forms.
// A form has each kind of mask at most once.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>

#include <ladon/shape.hpp>

#include "oracle_score.hpp"

namespace ladon_test {

// This value of a mask's offset stands for the default offset, keys - queries.
inline constexpr std::ptrdiff_t bottom_right = std::numeric_limits<std::ptrdiff_t>::min();

struct MaskForm {
  bool causal = false;
  bool window = false;
  std::size_t left = 0, right = 0;     // of the window; ladon::all: no limit on that side
  bool fixed_offset = false;           // CausalAt, WindowAt
  std::ptrdiff_t offset = 0;           // the offset of CausalAt or WindowAt
  bool padding = false;                // one byte for each key
  bool bits = false, boolean = false;  // one bit or byte for each pair of query and key
  bool boolean_per_head = false;
  bool additive = false;
  bool additive_per_head = false;
  bool alibi = false;
  bool relative = false;

  constexpr bool takes_offset() const { return (causal || window || alibi) && !fixed_offset; }
  constexpr bool per_pair() const { return bits || boolean || boolean_per_head; }
  constexpr bool adds() const { return additive || additive_per_head; }
  // Returns whether the mask's data may have fewer columns than the shape has keys. Keys without a column are hidden.
  constexpr bool takes_columns() const { return boolean || boolean_per_head || adds(); }

  friend constexpr MaskForm operator&(const MaskForm& a, const MaskForm& b) {
    MaskForm both = a.fixed_offset || a.window ? a : b;
    both.causal = a.causal || b.causal;
    both.padding = a.padding || b.padding;
    both.bits = a.bits || b.bits;
    both.boolean = a.boolean || b.boolean;
    both.boolean_per_head = a.boolean_per_head || b.boolean_per_head;
    both.additive = a.additive || b.additive;
    both.additive_per_head = a.additive_per_head || b.additive_per_head;
    both.alibi = a.alibi || b.alibi;
    both.relative = a.relative || b.relative;
    return both;
  }
};

// The number that mask::Relative adds in the tests, by head and distance.
constexpr float relative_number(std::size_t head, std::ptrdiff_t distance) {
  const auto mixed =
      static_cast<std::uint32_t>(distance + 100000) * 2654435761u + static_cast<std::uint32_t>(head) * 40503u;
  return static_cast<float>(mixed >> 16) / 16384.0f - 2;
}

struct ScoreForm {
  double scale = 0;  // 0 means 1 / sqrt(head width)
  double softcap = 0;
  bool sinks = false;
  oracle::Rotary rotary{};
  std::size_t positions = 0;  // number of positions in the rotary table
};

}  // namespace ladon_test
