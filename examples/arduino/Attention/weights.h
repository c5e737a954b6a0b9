// What a trained model would bring, made by the compiler so that it lies in flash. A file of its own: the Arduino IDE
// declares all functions of a sketch at its top, which spoils templates.
#pragma once

#include <array>
#include <cstddef>

// Small numbers of both signs.
template <std::size_t Count>
constexpr std::array<float, Count> numbers(unsigned long seed) {
  std::array<float, Count> result{};
  for (float& number : result) {
    seed = (seed * 1664525UL + 1013904223UL) & 0xFFFFFFFFUL;  // Numerical Recipes' generator
    number = static_cast<float>(static_cast<int>(seed >> 24U) - 128) / 512.0f;
  }
  return result;
}
