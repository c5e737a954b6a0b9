// all-MiniLM-L6-v2 computes a vector of length 1 from the tokens of a text. The more similar two texts are in meaning,
// the more similar are their vectors.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <ladon/model/batch.hpp>
#include <ladon/safetensors.hpp>
#include <span>
#include <string>
#include <vector>

namespace minilm {

using ladon::safetensors::Access, ladon::safetensors::Error, ladon::safetensors::Folder;
using TokenId = std::int32_t;

inline constexpr std::size_t width = 384;
inline constexpr std::size_t max_tokens = 256;  // --tokens in CMakeLists.txt
inline constexpr TokenId vocabulary_size = 30522;

using Embedding = std::array<float, width>;

// Returns the cosine of two embeddings. Both embeddings have the length 1, so the cosine is their scalar product.
float similarity(const Embedding& a, const Embedding& b);

// Returns the folder to which fetch_model downloads: $LADON_MINILM_DIR if set, else ladon/minilm in the user's cache
// folder.
std::filesystem::path default_folder();

// Writes `vectors` [texts.count][width]. model.cpp.in defines the functions that load a model.
using Model = std::function<void(const ladon::Texts& texts, float* vectors)>;
Model load_float32(const Folder& folder);
Model load_bfloat16(const Folder& folder);
Model load_int8(const Folder& folder);
Model load_rotated_int8(const Folder& folder);

class SentenceEncoder {
 public:
  // `folder` has config.json and model.safetensors. `precision` is "float32", "bfloat16", which rounds the weights, or
  // "int8", which rotates and quantises float weights, and uses int8 weights of the file in place. Throws Error with
  // the name of a tensor that is missing or wrong.
  explicit SentenceEncoder(const std::filesystem::path& folder, const std::string& precision = "float32",
                           Access access = Access::map);

  // Compute the embeddings of texts with 1 to max_tokens ids, each below vocabulary_size. Several texts share calls
  // (docs/import.md), so the last bits may differ from those of a text alone. Throw Error if ids break this rule, or if
  // the file is damaged so that the result is not finite.
  [[nodiscard]] Embedding embed(std::span<const TokenId> ids);
  [[nodiscard]] std::vector<Embedding> embed(std::span<const std::vector<TokenId>> texts);

 private:
  void embed(const ladon::Texts& texts, Embedding* embeddings);

  Folder folder_;
  Model model_;
};

}  // namespace minilm
