// Computes the model stories260K with Ladon: takes tokens, and returns the logits of the next token.
#pragma once

#include <filesystem>
#include <memory>
#include <span>

#include "checkpoint.hpp"
#include "mapped_file.hpp"

namespace stories {

using Logits = std::span<const float, vocabulary_size>;

// The precision of the matrices of the layers. Embeddings, norms and the classifier are float32.
enum class Precision { float32, bfloat16, int8 };

class Network;

class Model {
 public:
  // Maps or copies the file (files::Load), and finds every tensor in the file. If `precision` is not float32, converts
  // the matrices. Throws Error.
  explicit Model(const std::filesystem::path& file, files::Load load = files::Load::map,
                 Precision precision = Precision::float32);
  ~Model();
  Model(const Model&) = delete;
  Model& operator=(const Model&) = delete;

  // Begins a new text.
  void clear() noexcept;

  // Returns the number of tokens of the text so far.
  [[nodiscard]] std::size_t length() const noexcept;

  // Appends tokens to the text. Returns the logits of the next token, which are valid until the next call. Throws Error
  // if `tokens` is empty, if a token is not below vocabulary_size, or if the text exceeds max_positions tokens. Also
  // throws Error if a logit is not finite, because the file is then probably damaged.
  [[nodiscard]] Logits extend(std::span<const TokenId> tokens);

  [[nodiscard]] const Checkpoint& checkpoint() const noexcept { return checkpoint_; }

 private:
  files::MappedFile file_;
  Checkpoint checkpoint_;
  std::unique_ptr<Network> network_;
};

}  // namespace stories
