// Small pieces of text.
#pragma once

#include <array>
#include <cstdio>
#include <string>
#include <string_view>

namespace examples {

// As printf has it; at most 255 characters.
template <class... Values>
std::string format(const char* pattern, Values... values) {
  std::array<char, 256> text{};
  std::snprintf(text.data(), text.size(), pattern, values...);
  return text.data();
}

// "98.2%": cut off, not rounded, so that only what is sure says 100.0%.
std::string percent(float share);

// 171,692
std::string grouped(std::size_t number);

// ASCII that may be shown: controls, such as the start of an escape code, become '?'.
std::string printable(std::string_view text);

}  // namespace examples
