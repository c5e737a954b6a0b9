// Formats texts and numbers for messages.
#pragma once

#include <array>
#include <cstdio>
#include <string>
#include <string_view>

namespace examples {

// Returns the text that printf would print for `pattern` and `values`, at most 255 characters of it.
template <class... Values>
std::string format(const char* pattern, Values... values) {
  std::array<char, 256> text{};
  std::snprintf(text.data(), text.size(), pattern, values...);
  return text.data();
}

// Returns a percentage such as "98.2%". The number is truncated, so that only a probability of 1 gives 100.0%.
std::string percent(float share);

// Returns a number with separators, such as 171,692.
std::string grouped(std::size_t number);

// Returns the text with '?' in place of every character that is not printable ASCII, so that a terminal receives no
// escape codes.
std::string printable(std::string_view text);

}  // namespace examples
