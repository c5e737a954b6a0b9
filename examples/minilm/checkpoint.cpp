#include "checkpoint.hpp"

#include <string>

namespace minilm {
namespace {

Dense find_dense(const Safetensors& file, const std::string& name, std::size_t out, std::size_t in) {
  return {file.tensor(name + ".weight", {out, in}), file.tensor(name + ".bias", {out})};
}

Norm find_norm(const Safetensors& file, const std::string& name) {
  return {file.tensor(name + ".weight", {model_width}), file.tensor(name + ".bias", {model_width})};
}

LayerTensors find_layer(const Safetensors& file, const std::string& name) {
  const auto square = [&](const char* part) { return find_dense(file, name + part, model_width, model_width); };
  return {
      .query = square(".attention.self.query"),
      .key = square(".attention.self.key"),
      .value = square(".attention.self.value"),
      .output = square(".attention.output.dense"),
      .attention_norm = find_norm(file, name + ".attention.output.LayerNorm"),
      .intermediate = find_dense(file, name + ".intermediate.dense", feed_forward_width, model_width),
      .back = find_dense(file, name + ".output.dense", model_width, feed_forward_width),
      .output_norm = find_norm(file, name + ".output.LayerNorm"),
  };
}

}  // namespace

Checkpoint find_tensors(const Safetensors& file) {
  Checkpoint found{
      .word = file.tensor("embeddings.word_embeddings.weight", {vocabulary_size, model_width}),
      .position = file.tensor("embeddings.position_embeddings.weight", {position_count, model_width}),
      .type = file.tensor("embeddings.token_type_embeddings.weight", {2, model_width}),
      .embedding_norm = find_norm(file, "embeddings.LayerNorm"),
      .layers = {},
  };
  for (std::size_t layer = 0; layer < layer_count; ++layer)
    found.layers[layer] = find_layer(file, "encoder.layer." + std::to_string(layer));
  return found;
}

}  // namespace minilm
