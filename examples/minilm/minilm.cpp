#include "minilm.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>
#include <string>
#include <utility>

#include "model_files.hpp"

namespace minilm {
namespace {

void check(std::span<const TokenId> ids) {
  if (ids.empty() || ids.size() > max_tokens)
    throw ModelError("expected 1 to " + std::to_string(max_tokens) + " tokens, found " + std::to_string(ids.size()));
  const auto [least, largest] = std::ranges::minmax(ids);
  if (least < 0 || std::cmp_greater_equal(largest, vocabulary_size))
    throw ModelError("expected token ids below " + std::to_string(vocabulary_size) + ", found " +
                     std::to_string(largest) + " (another model's vocabulary?)");
}

void check(const Embedding& embedding) {
  if (!std::ranges::all_of(embedding, [](float value) { return std::isfinite(value); }))
    throw ModelError("the model's answer has no direction: its file's values are damaged");
}

// Returns whether the file has int8 weights that are not rotated. The scales of rotated weights are negative.
bool has_plain_int8_weights(const Folder& folder) {
  const auto* const scale = folder.find("encoder.layer.0.attention.self.query.weight_scale");
  return scale != nullptr && *reinterpret_cast<const float*>(folder.file().bytes(*scale).data()) > 0;
}

std::unique_ptr<Imported> make(const Folder& folder, Precision precision) {
  if (precision == Precision::bfloat16) return make_bfloat16(folder);
  if (precision == Precision::float32) return make_float32(folder);
  return has_plain_int8_weights(folder) ? make_int8(folder) : make_rotated_int8(folder);
}

}  // namespace

float similarity(const Embedding& a, const Embedding& b) {
  return static_cast<float>(
      std::inner_product(a.begin(), a.end(), b.begin(), 0.0, std::plus<>(), [](double x, double y) { return x * y; }));
}

SentenceEncoder::SentenceEncoder(const std::filesystem::path& folder, Precision precision,
                                 ladon::safetensors::Access access)
    : folder_(folder, access), model_(make(folder_, precision)) {}

Embedding SentenceEncoder::embed(std::span<const TokenId> ids) {
  check(ids);
  Embedding embedding;
  const std::size_t tokens = ids.size();
  model_->embed({ids.data(), &tokens, 1}, embedding.data());
  check(embedding);
  return embedding;
}

Embedding SentenceEncoder::embed(std::span<const TokenId> ids, Attention& attention) {
  check(ids);
  constexpr std::size_t map_size = head_count * max_tokens * max_tokens;
  std::vector<float> all(layer_count * map_size);
  Maps maps;
  for (std::size_t layer = 0; layer < layer_count; ++layer) maps[layer] = all.data() + layer * map_size;
  Embedding embedding;
  model_->attend(ids, embedding.data(), maps);
  check(embedding);
  attention = {ids.size(), {}};
  for (std::size_t row = 0; row < layer_count * head_count * max_tokens; ++row) {
    const auto first = all.begin() + static_cast<std::ptrdiff_t>(row * max_tokens);
    if (row % max_tokens < ids.size())
      attention.weights.insert(attention.weights.end(), first, first + static_cast<std::ptrdiff_t>(ids.size()));
  }
  return embedding;
}

std::vector<Embedding> SentenceEncoder::embed(std::span<const std::vector<TokenId>> texts) {
  std::vector<TokenId> ids;
  std::vector<std::size_t> lengths;
  for (const std::vector<TokenId>& text : texts) {
    check(text);
    ids.insert(ids.end(), text.begin(), text.end());
    lengths.push_back(text.size());
  }
  std::vector<Embedding> embeddings(texts.size());
  if (!texts.empty()) model_->embed({ids.data(), lengths.data(), texts.size()}, embeddings.front().data());
  for (const Embedding& embedding : embeddings) check(embedding);
  return embeddings;
}

}  // namespace minilm
