// Recordings: WAV files of the machine that runs the board, 16 kHz, 16 bits, mono.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "board.hpp"

class Wav {
 public:
  explicit Wav(const char* name) noexcept;

  // Returns what is wrong with the file, or a null pointer.
  const char* error() const noexcept { return error_; }
  // The number of samples that have not been read.
  std::size_t left() const noexcept { return left_; }
  // Reads the next samples, from -1 to 1, and returns how many. Fewer than there is room for only at the end.
  std::size_t read(std::span<float> samples) noexcept;

 private:
  struct Chunk {
    char id[4];
    std::uint32_t bytes;
  };
  const char* find_samples() noexcept;
  const char* read_format(std::uint32_t bytes) noexcept;
  template <class T>
  bool take(T& value) noexcept;
  bool skip(std::size_t bytes) noexcept;

  board::File file_;
  const char* error_ = nullptr;
  std::size_t left_ = 0;
};
