// Prints texts and rows of figures on the console of a board.
#pragma once

#include <cstdint>
#include <string_view>

#include "board.hpp"

inline void print(std::string_view text) noexcept { board::print(text.data(), text.size()); }

// Prints a right-aligned figure, and then the text that says what the figure counts.
inline void print_row(std::string_view what, std::uint64_t number) noexcept {
  board::print_number(number, 10);
  print("  ");
  print(what);
  print("\n");
}
