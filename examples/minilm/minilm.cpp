#include "minilm.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <numeric>

#include "user_folders.hpp"

namespace minilm {
namespace {

void check(std::span<const TokenId> ids) {
  if (ids.empty() || ids.size() > max_tokens)
    throw Error("expected 1 to " + std::to_string(max_tokens) + " tokens, found " + std::to_string(ids.size()));
  const auto [least, largest] = std::ranges::minmax(ids);
  if (least < 0 || largest >= vocabulary_size)
    throw Error("expected token ids below " + std::to_string(vocabulary_size) + ", found " + std::to_string(largest) +
                " (another model's vocabulary?)");
}

// Returns whether the file has int8 weights that are not rotated. The scales of rotated weights are negative.
bool has_plain_int8_weights(const Folder& folder) {
  const auto* const scale = folder.find("encoder.layer.0.attention.self.query.weight_scale");
  if (scale == nullptr) return false;
  const auto bytes = folder.file().bytes(*scale);
  float first = 0;
  if (bytes.size() >= sizeof first) std::memcpy(&first, bytes.data(), sizeof first);
  return first > 0;
}

Model load(const Folder& folder, const std::string& precision) {
  if (precision == "float32") return load_float32(folder);
  if (precision == "bfloat16") return load_bfloat16(folder);
  if (precision != "int8") throw Error("expected the precision float32, bfloat16 or int8, found " + precision);
  return has_plain_int8_weights(folder) ? load_int8(folder) : load_rotated_int8(folder);
}

}  // namespace

float similarity(const Embedding& a, const Embedding& b) {
  return static_cast<float>(
      std::inner_product(a.begin(), a.end(), b.begin(), 0.0, std::plus<>(), [](double x, double y) { return x * y; }));
}

std::filesystem::path default_folder() {
  const auto folder = examples::environment_path("LADON_MINILM_DIR");
  return folder.empty() ? examples::cache_folder() / "ladon" / "minilm" : folder;
}

SentenceEncoder::SentenceEncoder(const std::filesystem::path& folder, const std::string& precision, Access access)
    : folder_(folder, access), model_(load(folder_, precision)) {}

Embedding SentenceEncoder::embed(std::span<const TokenId> ids) {
  const std::size_t tokens = ids.size();
  Embedding embedding;
  embed({ids.data(), &tokens, 1}, &embedding);
  return embedding;
}

std::vector<Embedding> SentenceEncoder::embed(std::span<const std::vector<TokenId>> texts) {
  std::vector<TokenId> ids;
  std::vector<std::size_t> lengths;
  for (const std::vector<TokenId>& text : texts) {
    ids.insert(ids.end(), text.begin(), text.end());
    lengths.push_back(text.size());
  }
  std::vector<Embedding> embeddings(texts.size());
  if (!texts.empty()) embed({ids.data(), lengths.data(), lengths.size()}, embeddings.data());
  return embeddings;
}

void SentenceEncoder::embed(const ladon::Texts& texts, Embedding* embeddings) {
  const TokenId* ids = texts.ids;
  for (const std::size_t tokens : std::span(texts.lengths, texts.count)) {
    check({ids, tokens});
    ids += tokens;
  }
  model_(texts, embeddings->data());
  for (const Embedding& embedding : std::span(embeddings, texts.count)) {
    if (!std::ranges::all_of(embedding, [](float value) { return std::isfinite(value); }))
      throw Error("the model's answer has no direction: its file's values are damaged");
  }
}

}  // namespace minilm
