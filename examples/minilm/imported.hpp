// all-MiniLM-L6-v2 as ladon-import writes it, behind an interface that all precisions share. CMake makes a file from
// imported.cpp.in for each precision.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <ladon/model/batch.hpp>
#include <ladon/safetensors.hpp>
#include <memory>
#include <span>

namespace minilm {

inline constexpr std::size_t layer_count = 6, head_count = 12, model_width = 384;
inline constexpr std::size_t max_tokens = 256;  // MINILM_TOKENS in CMakeLists.txt
inline constexpr std::size_t vocabulary_size = 30522;

// For each layer, attention weights [head_count][max_tokens][max_tokens].
using Maps = std::array<float*, layer_count>;

class Imported {
 public:
  virtual ~Imported() = default;
  // Writes `vectors` [texts.count][model_width].
  virtual void embed(const ladon::Texts& texts, float* vectors) noexcept = 0;
  // Writes the vector of one text, and its attention weights.
  virtual void attend(std::span<const std::int32_t> ids, float* vector, const Maps& maps) noexcept = 0;
};

using Folder = ladon::safetensors::Folder;
std::unique_ptr<Imported> make_float32(const Folder& folder);
std::unique_ptr<Imported> make_bfloat16(const Folder& folder);
std::unique_ptr<Imported> make_int8(const Folder& folder);
std::unique_ptr<Imported> make_rotated_int8(const Folder& folder);

}  // namespace minilm
