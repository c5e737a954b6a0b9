// SPDX-License-Identifier: Apache-2.0
// The command line of a program that runs a model (ladon-import writes such programs):
//
//     PROGRAM FOLDER --inputs IN.safetensors --outputs OUT.safetensors
//     PROGRAM FOLDER ID...
//     PROGRAM FOLDER --text "All is well" [--text-pair "All is quiet"]
//     PROGRAM FOLDER (ID... | --text TEXT) --generate N [--temperature T] [--top-k K] [--top-p P] [--seed S]
//
// IN.safetensors has a tensor given.NAME for each argument of the model: I64 or I32 token ids, or F32 numbers. A first
// extent of 1 counts as a batch. Ids on the command line are the first argument. Without --outputs, the program prints
// the last result. --text, --text-pair and --generate are for programs that take a text, or a pair of texts, or write a
// text: at most N tokens, chosen as ladon/model/sampling.hpp describes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace ladon::safetensors {

// How many tokens a program writes, and how it chooses them. 0 tokens: the program writes no text.
struct Generation {
  std::size_t tokens = 0;
  float temperature = 0;
  std::size_t top_k = 0;
  float top_p = 1;
  std::uint64_t seed = 0;
};

class Records {
 public:
  // The options that a program has, beside --inputs and --outputs.
  struct Abilities {
    bool takes_text = false;
    bool takes_pair = false;  // --text-pair, a second text beside --text
    bool writes_text = false;
    bool takes_types = false;  // the types of tokens, BERT's token_type_ids
  };

  // `argc` and `argv` are those of main. The functions throw Error, which names the argument of the command line, or
  // the tensor.
  Records(int argc, const char* const* argv, const Abilities& abilities);
  Records(int argc, const char* const* argv) : Records(argc, argv, {}) {}
  ~Records();
  Records(const Records&) = delete;
  Records& operator=(const Records&) = delete;

  // The folder of the model.
  [[nodiscard]] const std::filesystem::path& folder() const noexcept { return folder_; }

  // The argument of --text, or "". `set_ids` gives the ids of the text, and their types.
  [[nodiscard]] const std::string& text() const noexcept { return text_; }
  // The argument of --text-pair, if it is given.
  [[nodiscard]] const std::optional<std::string>& text_pair() const noexcept { return text_pair_; }
  void set_ids(std::vector<std::int32_t> ids, std::vector<std::int32_t> types = {}) {
    words_ = std::move(ids), types_ = std::move(types);
  }

  [[nodiscard]] const Generation& generation() const noexcept { return generation_; }

  // Whether there is a tensor given.NAME.
  [[nodiscard]] bool has(const std::string& name) const;
  // Whether `ids` finds ids of this name: a tensor given.NAME, or the ids of the command line or of --text.
  [[nodiscard]] bool has_ids(const std::string& name) const;

  // Returns the token ids given.NAME: from 1 to `most` ids, each smaller than `rows`. The ids of the command line, or
  // of --text, are those of the first `name`.
  [[nodiscard]] std::vector<std::int32_t> ids(const std::string& name, std::size_t most, std::size_t rows);

  // Returns the types given.NAME, or those of --text, of `tokens` tokens, each smaller than `rows`. Without such types,
  // all are 0.
  [[nodiscard]] std::vector<std::int32_t> types(const std::string& name, std::size_t tokens, std::size_t rows) const;

  // Returns the numbers given.NAME: from `least` to `most` numbers.
  [[nodiscard]] std::vector<float> numbers(const std::string& name, std::size_t most, std::size_t least = 1) const;

  // Adds a result of [rows][width] numbers. `write` copies them.
  void add(const std::string& name, const float* values, std::size_t rows, std::size_t width);

  // Writes all results to OUT.safetensors as F32 tensors, or prints the last result, one row a line. Throws Error if
  // there are no results, as IN.safetensors has none of the inputs of a model with several stacks.
  void write() const;

 private:
  struct Given;
  struct Result {
    std::string name;
    const float* values;
    std::size_t rows, width;
  };
  [[nodiscard]] std::vector<std::int64_t> integers(const std::string& name) const;
  void read_option(const std::string& option, const std::string& value, std::string& inputs);

  std::filesystem::path folder_;
  std::string outputs_, text_;  // in UTF-8
  std::optional<std::string> text_pair_{};
  Generation generation_{};
  std::vector<std::int32_t> words_{};  // the ids of the command line
  std::vector<std::int32_t> types_{};  // their types
  std::string words_name_{};           // the argument that they are
  std::unique_ptr<Given> given_;
  std::vector<Result> results_{};
};

}  // namespace ladon::safetensors
