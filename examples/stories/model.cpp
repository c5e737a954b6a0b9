#include "model.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>

#include "error.hpp"
#include "network.hpp"

namespace stories {
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

std::unique_ptr<Network> make_network(const Checkpoint& checkpoint, Precision precision) {
  switch (precision) {
    case Precision::bfloat16:
      return make_bfloat16_network(checkpoint);
    case Precision::int8:
      return make_int8_network(checkpoint);
    case Precision::float32:
      break;
  }
  return make_float32_network(checkpoint);
}

}  // namespace

Model::Model(const std::filesystem::path& file, files::Load load, Precision precision)
    : file_(file, load),
      checkpoint_(find_tensors(file_.bytes(), file)),
      network_(make_network(checkpoint_, precision)) {}

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
