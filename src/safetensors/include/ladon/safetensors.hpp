// SPDX-License-Identifier: Apache-2.0
// Takes the weights of a layer from a safetensors file, by the tensor names of PyTorch and Hugging Face. A program that
// includes this file must link the library ladon::safetensors.
//
//     const ladon::safetensors::File file("model.safetensors");
//     const auto weights = ladon::safetensors::load<Encoder>(file, "encoder.layers");
//     Encoder::run(x, weights, y, workspace);
//
// The weights point into the File, so the File must outlive the weights. Tensors that have the dtype and the rows of
// the layer are not copied. The File holds converted copies of other tensors.
#pragma once

#include <array>
#include <cstddef>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <vector>

#include <ladon/bfloat16.hpp>
#include <ladon/decoder.hpp>
#include <ladon/encoder.hpp>
#include <ladon/multi_head_attention.hpp>
#include <ladon/safetensors/file.hpp>
#include <ladon/weights.hpp>

namespace ladon::safetensors {

template <>
inline constexpr std::string_view dtype_of<BFloat16> = "BF16";

struct LoadOptions {
  // The epsilon of the norms: PyTorch's layer_norm_eps, or Hugging Face's layer_norm_eps or rms_norm_eps. A checkpoint
  // does not contain this number.
  float epsilon = 1e-5f;
  // If true, `load` rejects a file with unused tensors, as PyTorch's load_state_dict does. An unused tensor has a name
  // that begins with the prefix, but the layer does not use the tensor.
  bool strict = true;
};

// Internal functions of `load`.
namespace detail {

template <class View>
struct Extents;
template <class Element, std::size_t... Sizes>
struct Extents<TensorView<Element, Sizes...>> {
  static constexpr std::array<std::size_t, sizeof...(Sizes)> sizes{Sizes...};
};

// Calls visit(name, view, rows) for each tensor of a linear map or a norm. `rows` is the text of the tensor's first
// extent: a number, or for in_proj in parts a sum such as "384+384+384".
template <class Part, class Visit>
void for_each_tensor(const std::string& name, Part& part, const std::string& rows, const Visit& visit) {
  static_assert(!requires { part.scale; }, "ladon: load reads float32 and bfloat16 weights, not layout::Int8");
  static_assert(!requires { part.size(); }, "ladon: load reads layout::InProj and layout::SeparateQKV");
  visit(name + "_weight", part.weight, rows);
  if constexpr (requires { part.bias.data; }) visit(name + "_bias", part.bias, rows);
}
template <class Part, class Visit>
void for_each_tensor(const std::string& name, Part& part, const Visit& visit) {
  for_each_tensor(name, part, std::to_string(Extents<decltype(part.weight)>::sizes[0]), visit);
}

template <Shape S, class Weights, class Visit>
void for_each_tensor_of_attention(const std::string& beginning, Weights& weights, const Visit& visit) {
  if constexpr (requires { requires Weights::in_parts; }) {
    const std::string rows =
        std::to_string(S.query_rows()) + "+" + std::to_string(S.key_rows()) + "+" + std::to_string(S.value_rows());
    for_each_tensor(beginning + "in_proj", weights.in_proj, rows, visit);
  } else if constexpr (requires { weights.in_proj; }) {
    for_each_tensor(beginning + "in_proj", weights.in_proj, visit);
  } else {
    for_each_tensor(beginning + "query_proj", weights.query_proj, visit);
    for_each_tensor(beginning + "key_proj", weights.key_proj, visit);
    for_each_tensor(beginning + "value_proj", weights.value_proj, visit);
  }
  for_each_tensor(beginning + "out_proj", weights.out_proj, visit);
}

template <Shape S, class Weights, class Visit>
void for_each_tensor_of_layer(const std::string& beginning, Weights& weights, const Visit& visit) {
  if constexpr (requires { weights.self_attention; }) {
    for_each_tensor_of_attention<S>(beginning + "self_attention.", weights.self_attention, visit);
    for_each_tensor_of_attention<S>(beginning + "cross_attention.", weights.cross_attention, visit);
  } else {
    for_each_tensor_of_attention<S>(beginning + "attention.", weights.attention, visit);
  }
  if constexpr (requires { weights.gate.weight; }) for_each_tensor(beginning + "gate", weights.gate, visit);
  for_each_tensor(beginning + "linear1", weights.linear1, visit);
  for_each_tensor(beginning + "linear2", weights.linear2, visit);
  for_each_tensor(beginning + "norm1", weights.norm1, visit);
  for_each_tensor(beginning + "norm2", weights.norm2, visit);
  if constexpr (requires { weights.norm3; }) for_each_tensor(beginning + "norm3", weights.norm3, visit);
}

template <Shape S, class Weights, class Visit>
void for_each_tensor_of(Weights& weights, const Visit& visit) {
  if constexpr (requires { weights.layers; }) {
    for (std::size_t i = 0; i < weights.layers.size(); ++i)
      for_each_tensor_of_layer<S>("layers." + std::to_string(i) + ".", weights.layers[i], visit);
    if constexpr (requires { weights.norm; }) for_each_tensor("norm", weights.norm, visit);
  } else if constexpr (requires { weights.norm1; }) {
    for_each_tensor_of_layer<S>("", weights, visit);
  } else {
    for_each_tensor_of_attention<S>("", weights, visit);
  }
}

// Builds one line of the text that `find` takes as `members`. The line describes one tensor: its name, its rows, and
// its other sizes.
template <class Element, std::size_t... Sizes>
std::string line_of(const std::string& name, const TensorView<Element, Sizes...>&, const std::string& rows) {
  std::string line = name + " " + rows;
  const std::array sizes{Sizes...};
  for (std::size_t i = 1; i < sizes.size(); ++i) {
    line += ' ';  // g++ 12 wrongly warns of an overlap (-Wrestrict) if " " + to_string(...) is appended
    line += std::to_string(sizes[i]);
  }
  if (std::is_same_v<Element, const BFloat16>) line += " bfloat16";
  return line + "\n";
}

template <class Weights>
void set_epsilon(Weights& weights, float epsilon) {
  if constexpr (requires { weights.layers; }) {
    for (auto& layer : weights.layers) set_epsilon(layer, epsilon);
    if constexpr (requires { weights.norm; }) weights.norm.epsilon = epsilon;
  } else if constexpr (requires { weights.norm1; }) {
    weights.norm1.epsilon = weights.norm2.epsilon = epsilon;
    if constexpr (requires { weights.norm3; }) weights.norm3.epsilon = epsilon;
  }
}

}  // namespace detail

// Returns the weights of a MultiHeadAttention, an encoder or decoder layer, or a stack of layers. The layout is
// layout::InProj or layout::SeparateQKV, and the weights are float32 or bfloat16. `load` knows the tensor names of
// these modules:
//
//     PyTorch        MultiheadAttention, TransformerEncoderLayer, TransformerEncoder, TransformerDecoderLayer,
//                    TransformerDecoder
//     Hugging Face   BERT, and Llama and its relatives
//
// `prefix` is the text before the tensor names, without the last dot, or "" if no text stands before the names. For a
// stack, the prefix ends before the number of a layer: it is "layers" for PyTorch's TransformerEncoder, and
// "encoder.layer" for BERT. layout::SeparateQKV also accepts PyTorch's in_proj, and uses the rows of in_proj as three
// tensors. layout::InProj needs the rows of queries, keys and values in one tensor.
//
// Throws Error with a line for each tensor that is missing, or that has a wrong shape or dtype.
template <class Layer>
[[nodiscard]] typename Layer::Weights load(const File& file, const std::string& prefix,
                                           const LoadOptions& options = {}) {
  static_assert(
      requires { Layer::Weights::norm1; } || requires { Layer::Weights::layers; } ||
          requires { Layer::Weights::out_proj; },
      "ladon: load reads MultiHeadAttention, EncoderLayer, Encoder, DecoderLayer and Decoder");
  typename Layer::Weights weights{};
  std::string members;
  detail::for_each_tensor_of<Layer::shape>(weights, [&](const std::string& name, auto& view, const std::string& rows) {
    members += detail::line_of(name, view, rows);
  });
  const auto values = detail::find(file, members, prefix, options.strict);
  auto next = values.begin();
  detail::for_each_tensor_of<Layer::shape>(weights, [&](const std::string&, auto& view, const std::string&) {
    view = reinterpret_cast<decltype(view.data)>(*next++);
  });
  detail::set_epsilon(weights, options.epsilon);
  return weights;
}

}  // namespace ladon::safetensors
