#include "model.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <string>

#include "error.hpp"
#include "tests/reference.hpp"

namespace stories {

class Model::Network {
 public:
  explicit Network(const Checkpoint& checkpoint) : reference_(checkpoint) {}

  void clear() noexcept {
    reference_.clear();
    length_ = 0;
  }
  [[nodiscard]] std::size_t length() const noexcept { return length_; }

  Logits extend(std::span<const TokenId> tokens) {
    for (const TokenId token : tokens) {
      const auto logits = reference_.extend(token);
      std::ranges::transform(logits, logits_.begin(), [](double value) { return static_cast<float>(value); });
      ++length_;
    }
    return logits_;
  }

 private:
  Reference reference_;
  std::size_t length_ = 0;
  std::array<float, vocabulary_size> logits_{};
};

namespace {

void check(std::span<const TokenId> tokens, std::size_t length) {
  if (tokens.empty()) throw examples::Error("expected at least one token, found none");
  if (tokens.size() > max_positions - length)
    throw examples::Error("expected at most " + std::to_string(max_positions) + " tokens, found " +
                          std::to_string(length + tokens.size()));
  const TokenId largest = std::ranges::max(tokens);
  if (largest >= vocabulary_size)
    throw examples::Error("expected tokens below " + std::to_string(vocabulary_size) + ", found " +
                          std::to_string(largest));
}

bool all_finite(Logits logits) {
  bool finite = true;
  for (const float logit : logits) finite &= std::abs(logit) <= std::numeric_limits<float>::max();
  return finite;
}

}  // namespace

Model::Model(const std::filesystem::path& file)
    : file_(file), checkpoint_(find_tensors(file_.bytes(), file)), network_(std::make_unique<Network>(checkpoint_)) {}

Model::~Model() = default;

void Model::clear() noexcept { network_->clear(); }

std::size_t Model::length() const noexcept { return network_->length(); }

Logits Model::extend(std::span<const TokenId> tokens) {
  check(tokens, length());
  const Logits logits = network_->extend(tokens);
  if (!all_finite(logits)) throw examples::Error("the model's answer is not finite: is its file damaged?");
  return logits;
}

}  // namespace stories
