// Defines the functions that the programs of this folder share: random numbers, the count of instructions, and output.
#pragma once

#include <cstddef>
#include <cstdint>
#include <iterator>
#include <span>
#include <utility>

#include <ladon/shape.hpp>

#include "board.hpp"
#include "shapes.hpp"

namespace counting {

constexpr std::size_t most(std::size_t ladon::Shape::* size) {
  std::size_t largest = 0;
  for (const ladon::Shape& shape : ladon_bench::shapes) largest = shape.*size > largest ? shape.*size : largest;
  return largest;
}

// Fills `values` with random numbers between -size and size. The generator is the 32-bit generator of Numerical
// Recipes.
inline void fill(std::span<float> values, float size) {
  static std::uint32_t state = 1;
  for (float& value : values) {
    state = state * 1664525u + 1013904223u;
    value = size * 0x1p-23f * static_cast<float>(static_cast<std::int32_t>(state) >> 8);
  }
}

template <class F>
std::uint64_t instructions(F f) {
  f();
  const std::uint64_t before = board::instructions();
  f();
  return board::instructions() - before;
}

// Prints count / multiply_adds with three decimal places.
inline void print_ratio(std::uint64_t count, std::uint64_t multiply_adds) {
  const std::uint64_t thousandths = (1000 * count + multiply_adds / 2) / multiply_adds;
  board::print_number(thousandths / 1000, 8);
  const char rest[] = {'.', static_cast<char>('0' + thousandths / 100 % 10),
                       static_cast<char>('0' + thousandths / 10 % 10), static_cast<char>('0' + thousandths % 10), '\0'};
  board::print(rest);
}

inline void print_shape(const ladon::Shape& shape) {
  board::print("(");
  board::print_number(shape.queries, 3);
  board::print(",");
  board::print_number(shape.model, 4);
  board::print(",");
  board::print_number(shape.heads, 3);
  board::print(")");
}

// Calls f for each shape, with the shape as the template argument.
template <class F, std::size_t... I>
void for_each_shape(F f, std::index_sequence<I...>) {
  (f.template operator()<ladon_bench::shapes[I]>(), ...);
}
template <class F>
void for_each_shape(F f) {
  for_each_shape(f, std::make_index_sequence<std::size(ladon_bench::shapes)>());
}

}  // namespace counting
