// SPDX-License-Identifier: Apache-2.0
// The command line of a program that runs a model (ladon-import writes such programs):
//
//     PROGRAM FOLDER --inputs IN.safetensors --outputs OUT.safetensors
//     PROGRAM FOLDER ID...
//
// IN.safetensors has a tensor given.NAME for each argument of the model: I64 or I32 token ids, or F32 numbers. A first
// extent of 1 counts as a batch. With ids on the command line, these are the only argument. Without --outputs, the
// program prints the last result.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace ladon::safetensors {

class Records {
 public:
  // The functions throw Error, which names the argument of the command line, or the tensor.
  Records(int argc, const char* const* argv);
  ~Records();
  Records(const Records&) = delete;
  Records& operator=(const Records&) = delete;

  // The folder of the model.
  [[nodiscard]] const std::string& folder() const noexcept { return folder_; }

  // Returns the token ids given.NAME: from 1 to `most` ids, each smaller than `rows`.
  [[nodiscard]] std::vector<std::int32_t> ids(const std::string& name, std::size_t most, std::size_t rows) const;

  // Returns the numbers given.NAME: from `least` to `most` numbers.
  [[nodiscard]] std::vector<float> numbers(const std::string& name, std::size_t most, std::size_t least = 1) const;

  // Adds a result of [rows][width] numbers. `write` copies them.
  void add(const std::string& name, const float* values, std::size_t rows, std::size_t width);

  // Writes all results to OUT.safetensors as F32 tensors, or prints the last result, one row a line.
  void write() const;

 private:
  struct Given;
  struct Result {
    std::string name;
    const float* values;
    std::size_t rows, width;
  };
  std::string folder_, outputs_;
  std::vector<std::int32_t> words_{};  // the ids of the command line
  std::unique_ptr<Given> given_;
  std::vector<Result> results_{};
};

}  // namespace ladon::safetensors
