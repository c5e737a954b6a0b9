// The lines of a file of the machine that runs the board, one after the other.
#pragma once

#include <array>
#include <string_view>

#include "board.hpp"

class Lines {
 public:
  explicit Lines(const char* name) noexcept : file_(name) {}

  bool is_open() const noexcept { return file_.is_open(); }
  // The next line up to its first tab, or to the 255th character; false at the end. It holds until the next call.
  bool next(std::string_view& text) noexcept;

 private:
  bool take(char& character) noexcept;

  board::File file_;
  std::array<char, 256> line_{};
  std::array<char, 512> buffer_{};
  std::size_t held_ = 0, taken_ = 0;
};
