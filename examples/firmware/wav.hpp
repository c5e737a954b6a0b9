// Reads a WAV file of the host, the machine that runs QEMU. The file must have 16 kHz, 16 bits and one channel.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "board.hpp"

class Wav {
 public:
  explicit Wav(const char* name) noexcept;

  // Returns the error of the file, or a null pointer if the file is correct.
  const char* error() const noexcept { return error_; }
  // Returns the number of samples that have not been read.
  std::size_t left() const noexcept { return left_; }
  // Reads the next samples, as numbers from -1 to 1. Returns the number of samples, which is samples.size() except at
  // the end of the file.
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
