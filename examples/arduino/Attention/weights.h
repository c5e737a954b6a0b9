// Defines numbers(), which returns an array in place of the weights of a trained model. The compiler computes the
// array, so the array is in flash. numbers() is not defined in Attention.ino, because the Arduino IDE declares all
// functions of an .ino file at the top of the file, which breaks templates.
#pragma once

#include <array>
#include <cstddef>

// Returns `Count` numbers from -0.25 to 0.25.
template <std::size_t Count>
constexpr std::array<float, Count> numbers(unsigned long seed) {
  std::array<float, Count> result{};
  for (float& number : result) {
    seed = (seed * 1664525UL + 1013904223UL) & 0xFFFFFFFFUL;  // the generator of Numerical Recipes
    number = static_cast<float>(static_cast<int>(seed >> 24U) - 128) / 512.0f;
  }
  return result;
}
