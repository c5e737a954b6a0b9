// Reads a file of the host, line by line. The host is the machine that runs QEMU.
#pragma once

#include <array>
#include <string_view>

#include "board.hpp"

class Lines {
 public:
  explicit Lines(const char* name) noexcept : file_(name) {}

  bool is_open() const noexcept { return file_.is_open(); }
  // Reads the next line, and sets `text` to the part before the first tab, at most 255 characters. `text` is valid
  // until the next call of next(). Returns false at the end of the file.
  bool next(std::string_view& text) noexcept;

 private:
  bool take(char& character) noexcept;

  board::File file_;
  std::array<char, 256> line_{};
  std::array<char, 512> buffer_{};
  std::size_t held_ = 0, taken_ = 0;
};
