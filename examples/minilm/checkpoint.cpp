#include "checkpoint.hpp"

#include <algorithm>
#include <cmath>
#include <ladon/quantise.hpp>
#include <span>
#include <string>
#include <type_traits>

#include "model_error.hpp"

namespace minilm {
namespace {

Norm find_norm(const Safetensors& file, const std::string& name) {
  return {file.tensor(name + ".weight", {model_width}), file.tensor(name + ".bias", {model_width})};
}

// Finds the tensors of all layers. Calls find.operator()<Out, In>(name) to find each dense layer.
template <class AnyDense, class Find>
LayersOf<AnyDense> find_layers_with(const Safetensors& file, const Find& find) {
  LayersOf<AnyDense> found{};
  for (std::size_t i = 0; i < layer_count; ++i) {
    const std::string name = "encoder.layer." + std::to_string(i);
    const auto square = [&](const char* part) {
      return find.template operator()<model_width, model_width>(name + part);
    };
    found[i] = {
      .query = square(".attention.self.query"),
      .key = square(".attention.self.key"),
      .value = square(".attention.self.value"),
      .output = square(".attention.output.dense"),
      .attention_norm = find_norm(file, name + ".attention.output.LayerNorm"),
      .intermediate = find.template operator()<feed_forward_width, model_width>(name + ".intermediate.dense"),
      .back = find.template operator()<model_width, feed_forward_width>(name + ".output.dense"),
      .output_norm = find_norm(file, name + ".output.LayerNorm"),
    };
  }
  return found;
}

template <std::size_t Out, std::size_t In>
Dense find_dense(const Safetensors& file, const std::string& name) {
  return {file.tensor(name + ".weight", {Out, In}), file.tensor(name + ".bias", {Out})};
}

[[noreturn]] void fail(const std::string& tensor, const std::string& what) {
  throw ModelError("tensor " + files::in_quotes(tensor) + ": " + what);
}

template <std::size_t Out, std::size_t In>
struct Int8Memory {
  std::array<std::int8_t, Out * In> weight;
  std::array<float, Out> scale;
  std::array<std::int32_t, Out> row_sum;
};

template <std::size_t Out, std::size_t In>
Int8Dense quantise(const Safetensors& file, const std::string& name, bool rotated, Int8Memory<Out, In>& memory) {
  const Dense dense = find_dense<Out, In>(file, name);
  const ladon::Linear<Out, In> linear{.weight = dense.weight, .bias = dense.bias};
  const bool finite = rotated ? ladon::quantise_rotated(linear, memory.weight, memory.scale)
                              : ladon::quantise(linear, memory.weight, memory.scale);
  if (!finite) fail(name + ".weight", "expected finite weights");
  return {memory.weight.data(), memory.scale.data(), memory.row_sum.data(), dense.bias};
}

template <std::size_t Out, std::size_t In>
Int8Dense find_int8_dense(const Safetensors& file, const std::string& name, bool rotated, Int8Memory<Out, In>& memory) {
  const std::string scale = name + ".weight_scale";
  const Int8Dense dense{file.tensor<std::int8_t>(name + ".weight", {Out, In}), file.tensor(scale, {Out, 1}),
                        memory.row_sum.data(), file.tensor(name + ".bias", {Out})};
  const auto is_right = [&](float value) { return (rotated ? value < 0 : value > 0) && std::isfinite(value); };
  if (!std::ranges::all_of(std::span(dense.scale, Out), is_right))
    fail(scale, rotated ? "expected negative and finite scales, as of other dense layers"
                        : "expected positive and finite scales");
  return dense;
}

bool has_int8_weights(const Safetensors& file) {
  return std::ranges::any_of(file.tensors(), [](const auto& named) {
    return named.first.starts_with("encoder.layer.") && named.second.dtype == "I8";
  });
}

}  // namespace

Embeddings find_embeddings(const Safetensors& file) {
  return {
      .word = file.tensor("embeddings.word_embeddings.weight", {vocabulary_size, model_width}),
      .position = file.tensor("embeddings.position_embeddings.weight", {position_count, model_width}),
      .type = file.tensor("embeddings.token_type_embeddings.weight", {2, model_width}),
      .norm = find_norm(file, "embeddings.LayerNorm"),
  };
}

Layers find_layers(const Safetensors& file) {
  return find_layers_with<Dense>(
      file, [&]<std::size_t Out, std::size_t In>(const std::string& name) { return find_dense<Out, In>(file, name); });
}

BFloat16Layers::BFloat16Layers(const Safetensors& file) {
  const auto find = [&]<std::size_t Out, std::size_t In>(const std::string& name) {
    const Dense dense = find_dense<Out, In>(file, name);
    const std::shared_ptr<std::array<ladon::BFloat16, Out * In>> memory(new std::array<ladon::BFloat16, Out * In>);
    memory_.push_back(memory);
    std::transform(dense.weight, dense.weight + Out * In, memory->begin(), ladon::to_bfloat16);
    return BFloat16Dense{memory->data(), dense.bias};
  };
  layers_ = find_layers_with<BFloat16Dense>(file, find);
}

bool has_plain_int8_weights(const Safetensors& file) {
  const std::string name = "encoder.layer.0.attention.self.query.weight_scale";
  return has_int8_weights(file) && (!file.tensors().contains(name) || *file.tensor(name, {model_width, 1}) > 0);
}

template <class AnyInt8Dense>
Int8LayersOf<AnyInt8Dense>::Int8LayersOf(const Safetensors& file) {
  constexpr bool rotated = std::is_same_v<AnyInt8Dense, RotatedInt8Dense>;
  const bool is_quantised = has_int8_weights(file);
  const auto find = [&]<std::size_t Out, std::size_t In>(const std::string& name) {
    const std::shared_ptr<Int8Memory<Out, In>> memory(new Int8Memory<Out, In>);
    memory_.push_back(memory);
    const Int8Dense dense =
        is_quantised ? find_int8_dense(file, name, rotated, *memory) : quantise(file, name, rotated, *memory);
    ladon::row_sums<Out, In>(dense.weight, memory->row_sum);
    return AnyInt8Dense{dense};
  };
  layers_ = find_layers_with<AnyInt8Dense>(file, find);
}

template class Int8LayersOf<Int8Dense>;
template class Int8LayersOf<RotatedInt8Dense>;

}  // namespace minilm
