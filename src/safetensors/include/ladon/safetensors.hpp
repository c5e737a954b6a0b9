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
#include <concepts>
#include <cstddef>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include <ladon/bfloat16.hpp>
#include <ladon/decoder.hpp>
#include <ladon/encoder.hpp>
#include <ladon/multi_head_attention.hpp>
#include <ladon/safetensors/agreement.hpp>
#include <ladon/safetensors/file.hpp>
#include <ladon/safetensors/folder.hpp>
#include <ladon/weights.hpp>

namespace ladon::safetensors {

template <>
inline constexpr std::string_view dtype_of<BFloat16> = "BF16";

struct LoadOptions {
  // The epsilon of the norms: PyTorch's layer_norm_eps, or Hugging Face's layer_norm_eps or rms_norm_eps. A checkpoint
  // does not contain this number. If 0, the epsilon is 1e-5, as in PyTorch, and `load` rejects files with the names of
  // families that have other epsilons.
  float epsilon = 0;
  // If true, `load` rejects a file with unused tensors, as PyTorch's load_state_dict does. An unused tensor has a name
  // that begins with the prefix, but the layer does not use the tensor.
  bool strict = true;
  // Linear maps of a stack with 4-bit weights that get int8 weights, such as "layers.5.linear1" or
  // "layers.5.attention.value_proj", or all linear maps of a layer, such as "layers.5".
  std::vector<std::string> int8_members{};
};

// Internal functions of `load`.
namespace detail {

template <class View>
struct Extents;
template <class Element, std::size_t... Sizes>
struct Extents<TensorView<Element, Sizes...>> {
  static constexpr std::array<std::size_t, sizeof...(Sizes)> sizes{Sizes...};
};

// Whether a linear map has weights in the order (in, out).
template <class Part>
inline constexpr bool is_in_out = false;
template <class Part>
  requires requires { Part::row_stride; }
inline constexpr bool is_in_out<Part> = Part::stride > 1;

// The rows of a part, and words about their order: "384+384+384" and " blocks 12" for in_proj.
struct RowsText {
  std::string rows, order = "";
};

// Calls visit(view, line) for each tensor of a linear map or a norm. `line` is a line of the text that `find` takes as
// `members`: the name of the tensor, its extents (outputs, inputs), and its type. The lines of the scales and the row
// sums of int8 weights are empty, because `find` returns their addresses after the address of the weights.
template <class Part, class Visit>
void for_each_tensor(const std::string& name, Part& part, const RowsText& rows, const Visit& visit) {
  static_assert(!requires { part.size(); }, "ladon: load reads every layout except layout::PerHead");
  using Weight = decltype(part.weight);
  constexpr auto sizes = Extents<Weight>::sizes;
  std::string line = name + "_weight " + rows.rows;
  if constexpr (sizes.size() == 2) {
    line += ' ';  // g++ 12 wrongly warns of an overlap (-Wrestrict) if " " + to_string(...) is appended
    if constexpr (requires { Part::inputs; }) {
      line += std::to_string(Part::inputs);
    } else {
      line += std::to_string(sizes[is_in_out<Part> ? 0 : 1]);
    }
  }
  line += rows.order;
  if constexpr (is_in_out<Part>) line += " in_out";
  if constexpr (std::is_same_v<decltype(part.weight.data), const BFloat16*>) line += " bfloat16";
  if constexpr (requires { part.scale; }) {
    line += Part::weight_bits == 4 ? " int4" : " int8";
    line += Part::rotated ? " rotated\n" : "\n";
    if constexpr (Part::weight_bits == 4) {
      visit(part, line);  // which view points to the weight depends on LoadOptions::int8_members
    } else {
      visit(part.weight, line);
    }
    visit(part.scale, std::string());
    visit(part.row_sum, std::string());
  } else {
    visit(part.weight, line + "\n");
  }
  if constexpr (requires { part.bias.data; }) visit(part.bias, name + "_bias " + rows.rows + rows.order + "\n");
}

// Sets a view, or the weight of a linear map with 4 bits. `line` is a line of `find`.
template <class View>
void set_address(View& view, const std::string& line, const std::vector<std::string>& int8_members,
                 const std::byte* address) {
  if constexpr (!requires { view.int8_weight; }) {
    view = reinterpret_cast<decltype(view.data)>(address);
  } else if (is_int8_member(line, int8_members)) {
    view.int8_weight = reinterpret_cast<const std::int8_t*>(address);
  } else {
    view.weight = reinterpret_cast<const std::uint8_t*>(address);
  }
}

// Does nothing for a part that the layer lacks.
template <class Part, class Visit>
void for_each_tensor(const std::string& name, Part& part, const Visit& visit) {
  if constexpr (requires { part.weight; }) {
    constexpr auto sizes = Extents<decltype(part.weight)>::sizes;
    for_each_tensor(name, part, {std::to_string(sizes[is_in_out<Part> ? sizes.size() - 1 : 0])}, visit);
  } else if constexpr (requires { part.data; }) {
    constexpr auto sizes = Extents<Part>::sizes;
    std::string line = name + " " + std::to_string(sizes[0]);
    if constexpr (sizes.size() == 3) line.append(" ").append(std::to_string(sizes[1] * sizes[2]));  // attention_bias
    visit(part, line + "\n");
  } else {
    static_assert(!requires { part.size(); }, "ladon: load reads every layout except layout::PerHead");
  }
}

template <Shape S, class Weights>
RowsText rows_of_in_proj() {
  RowsText text{std::to_string(S.query_rows()) + "+" + std::to_string(S.key_rows()) + "+" +
                std::to_string(S.value_rows())};
  if constexpr (requires { Weights::blocks; }) {
    if (Weights::blocks > 1) text.order += " blocks " + std::to_string(Weights::blocks);
    if (Weights::values_first) text.order += " values_first";
  }
  return text;
}

// Calls for_each_tensor for the member `part` of `weights`, if there is such a member.
#define LADON_PART(part) \
  if constexpr (requires { weights.part; }) for_each_tensor(beginning + #part, weights.part, visit);

template <Shape S, class Weights, class Visit>
void for_each_tensor_of_attention(const std::string& beginning, Weights& weights, const Visit& visit) {
  if constexpr (requires { weights.in_proj; })
    for_each_tensor(beginning + "in_proj", weights.in_proj, rows_of_in_proj<S, Weights>(), visit);
  LADON_PART(query_proj)
  LADON_PART(key_proj)
  LADON_PART(value_proj)
  LADON_PART(query_norm)
  LADON_PART(key_norm)
  LADON_PART(out_proj)
}

template <Shape S, class Weights, class Visit>
void for_each_tensor_of_layer(const std::string& beginning, Weights& weights, const Visit& visit) {
  if constexpr (requires { weights.self_attention; }) {
    for_each_tensor_of_attention<S>(beginning + "self_attention.", weights.self_attention, visit);
    for_each_tensor_of_attention<S>(beginning + "cross_attention.", weights.cross_attention, visit);
  } else {
    for_each_tensor_of_attention<S>(beginning + "attention.", weights.attention, visit);
  }
  LADON_PART(gate)
  LADON_PART(linear1)
  LADON_PART(linear2)
  LADON_PART(activation)
  LADON_PART(norm1)
  LADON_PART(norm2)
  LADON_PART(norm3)
  LADON_PART(output_norm1)
  LADON_PART(output_norm2)
  LADON_PART(output_norm3)
  LADON_PART(scale1)
  LADON_PART(scale2)
  LADON_PART(attention_bias)
}

template <Shape S, class Weights, class Visit>
void for_each_tensor_of(Weights& weights, const Visit& visit) {
  const std::string beginning;
  if constexpr (requires { weights.layers; }) {
    for (std::size_t i = 0; i < weights.layers.size(); ++i)
      for_each_tensor_of_layer<S>("layers." + std::to_string(i) + ".", weights.layers[i], visit);
    LADON_PART(norm)
  } else if constexpr (requires { weights.linear1; }) {
    for_each_tensor_of_layer<S>("", weights, visit);
  } else {
    for_each_tensor_of_attention<S>("", weights, visit);
  }
}
#undef LADON_PART

// Sets the epsilon of each norm in the weights of an attention, a layer or a stack.
template <class Weights>
void set_epsilon(Weights& weights, float epsilon) {
  if constexpr (requires { weights.layers; })
    for (auto& layer : weights.layers) set_epsilon(layer, epsilon);
  if constexpr (requires { weights.attention; }) set_epsilon(weights.attention, epsilon);
  if constexpr (requires { weights.self_attention; }) {
    set_epsilon(weights.self_attention, epsilon);
    set_epsilon(weights.cross_attention, epsilon);
  }
#define LADON_NORM(norm) \
  if constexpr (requires { weights.norm.epsilon; }) weights.norm.epsilon = epsilon;
  LADON_NORM(norm)
  LADON_NORM(norm1)
  LADON_NORM(norm2)
  LADON_NORM(norm3)
  LADON_NORM(output_norm1)
  LADON_NORM(output_norm2)
  LADON_NORM(output_norm3)
  LADON_NORM(query_norm)
  LADON_NORM(key_norm)
#undef LADON_NORM
}

}  // namespace detail

// Returns the weights of a MultiHeadAttention, an encoder or decoder layer, or a stack of layers, in any layout except
// layout::PerHead. `load` knows the tensor names of these modules:
//
//     PyTorch        MultiheadAttention, TransformerEncoderLayer, TransformerEncoder, TransformerDecoderLayer,
//                    TransformerDecoder
//     Hugging Face   the families of src/weights/checkpoint_names.cpp: BERT, Llama and its relatives, GPT-2, T5, ..
//
// `prefix` is the text before the tensor names, without the last dot, or "" if no text stands before the names. For a
// stack, the prefix ends before the number of a layer: it is "layers" for PyTorch's TransformerEncoder, and
// "encoder.layer" for BERT. Names of wrappers such as "model" and "module" may be left out.
//
// Weights that have the order and the type of the layer are used in place: also some rows of a tensor, such as the
// queries of PyTorch's in_proj. The File holds converted copies of all other tensors: F16 and BF16 norms and biases,
// transposed matrices, quantised weights, and row sums. If no file of a family has a tensor that the layer needs, the
// File holds zeros for a bias, and ones for a gain.
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
  std::string members = "kv_heads " + std::to_string(Layer::shape.complete().kv_heads) + "\n";
  detail::for_each_tensor_of<Layer::shape>(weights, [&](auto&, const std::string& line) { members += line; });
  if (!options.int8_members.empty()) members = detail::with_int8_members(members, options.int8_members);
  const auto values = detail::find(file, members, prefix, options.strict, options.epsilon != 0);
  auto next = values.begin();
  detail::for_each_tensor_of<Layer::shape>(weights, [&](auto& view, const std::string& line) {
    detail::set_address(view, line, options.int8_members, *next++);
  });
  detail::set_epsilon(weights, options.epsilon != 0 ? options.epsilon : 1e-5f);
  return weights;
}

// Fills a part of a model outside its layers: a Linear of any precision, a Norm, or a view of floats. A Linear and a
// Norm have the tensors NAME.weight and NAME.bias. A view, or a Linear without a bias, may also be the tensor NAME. An
// extent may be several neighbouring extents of the tensor, and extents of 1 are ignored: [32,3,4,4] is a Linear of 32
// x 48, and [1,1,32] is a view of 32 floats. Tensors are used in place or converted as by `load`, but float weights
// become int8 even if the file has int8 weights. The epsilon of a norm does not change.
//
//     ladon::safetensors::take(file, "embeddings.word_embeddings", table);
//     ladon::safetensors::take(file, "pooler.dense", pooler);
//
// Throws Error with a line for each tensor that is missing, that has a wrong shape or dtype, or for whose bias the part
// has no place. Then, `part` does not change.
template <class Part>
  requires requires(Part part) { part.weight; }
void take(const File& file, const std::string& name, Part& part) {
  const std::string role = requires { Part::gain; } ? "norm1" : "linear1";
  std::string members;
  detail::for_each_tensor(role, part, [&](auto&, const std::string& line) { members += line; });
  const auto values = detail::find_part(file, name, members);
  auto next = values.begin();
  detail::for_each_tensor(role, part,
                          [&](auto& view, const std::string& line) { detail::set_address(view, line, {}, *next++); });
}
template <std::size_t... Sizes>
void take(const File& file, const std::string& name, TensorView<const float, Sizes...>& view) {
  constexpr auto sizes = detail::Extents<TensorView<const float, Sizes...>>::sizes;
  view = reinterpret_cast<const float*>(detail::find_view(file, name, sizes));
}

namespace detail {

template <class Layer>
consteval Part part_of() {
  using Weights = typename Layer::Weights;
  constexpr bool is_stack = requires(Weights weights) { weights.layers; };
  if (requires(Weights weights) { weights.out_proj; }) return Part::attention;
  if (Layer::model.memory > 0) return is_stack ? Part::decoder : Part::decoder_layer;
  return is_stack ? Part::stack : Part::layer;
}

// Whether the type Layer follows from Layer::model. Otherwise, types state the mask, the score, the position encoding
// or the layout.
template <class Layer, Part P>
consteval bool is_value() {
  if constexpr (P == Part::attention) return std::derived_from<Layer, MultiHeadAttention<Layer::model>>;
  if constexpr (P == Part::layer) return std::derived_from<Layer, EncoderLayer<Layer::model>>;
  if constexpr (P == Part::stack) return std::derived_from<Layer, Encoder<Layer::model>>;
  if constexpr (P == Part::decoder_layer) return std::derived_from<Layer, DecoderLayer<Layer::model>>;
  if constexpr (P == Part::decoder) return std::derived_from<Layer, Decoder<Layer::model>>;
}

}  // namespace detail

// Returns the weights from a folder with a config.json. The epsilon of the norms comes from config.json. If `prefix` is
// empty, it is the prefix of the stack in config.json, behind the name of the base model that the file has ("bert.").
// Throws Error, too, if Layer::model contradicts config.json, with a line for each member: what the layer says, and
// what config.json says under which key. Config.json does not determine the numbers of tokens, the precisions, and
// masks that depend on the text.
//
//     const ladon::safetensors::Folder folder("models/minilm");
//     const auto weights = ladon::safetensors::load<Encoder>(folder);
template <class Layer>
[[nodiscard]] typename Layer::Weights load(const Folder& folder, const std::string& prefix = "", bool strict = true) {
  constexpr detail::Part part = detail::part_of<Layer>();
  constexpr bool attends_memory = part == detail::Part::decoder || part == detail::Part::decoder_layer;
  constexpr bool is_stack = part == detail::Part::decoder || part == detail::Part::stack;
  auto facts = detail::facts_of(ladon::detail::value_of<Layer::model>, attends_memory, is_stack);
  if (!detail::is_value<Layer, part>()) detail::drop_types(facts);
  const detail::Agreement agreed = detail::agree(folder, prefix, part, facts);
  return load<Layer>(folder.file(), agreed.prefix, {.epsilon = agreed.epsilon, .strict = strict});
}

}  // namespace ladon::safetensors
