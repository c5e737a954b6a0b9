// SPDX-License-Identifier: Apache-2.0
// Lists the tensors of a kernel's weights. The lists are computed from the C++ type of the weights. The C++ member
// `part.weight` has the name `part_weight` in the C struct. For int8 weights, `part.scale` has the name
// `part_weight_scale`, and `part.row_sum` has the name `part_weight_row_sum`. A vector, such as `scale1`, keeps its
// name.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <tuple>
#include <type_traits>

#include <ladon/ladon.hpp>

#include "element_types.hpp"
#include "text.hpp"

// Lists of all parts that weights may have, in the order of the C structs. LADON_ATTENTIONS lists the possible
// attentions of a layer: an encoder layer has `attention`, and a decoder layer has self_attention and cross_attention.
// LADON_LAYER_PARTS lists the other parts of a layer. LADON_STACK_PARTS lists the parts of a stack that belong to no
// layer. weights.hpp converts the parts in this order.
#define LADON_ATTENTIONS(ATTENTION) ATTENTION(attention) ATTENTION(self_attention) ATTENTION(cross_attention)
#define LADON_ATTENTION_PARTS(PART) \
  PART(in_proj) PART(query_proj) PART(key_proj) PART(value_proj) PART(out_proj) PART(query_norm) PART(key_norm)
#define LADON_NORMS(PART) PART(norm1) PART(norm2) PART(norm3) PART(output_norm1) PART(output_norm2) PART(output_norm3)
#define LADON_LAYER_VECTORS(PART) LADON_NORMS(PART) PART(scale1) PART(scale2) PART(activation) PART(attention_bias)
#define LADON_LAYER_PARTS(PART) PART(gate) PART(linear1) PART(linear2) LADON_LAYER_VECTORS(PART)
#define LADON_STACK_PARTS(PART) PART(norm)

namespace c_kernel::inline LADON_ABI {

struct Tensor {
  std::string_view part;  // in_proj, linear1, ...
  std::string_view
      member;  // "_weight", "_weight_scale", "_weight_row_sum" or "_bias", or "" for a vector or attention_bias
  Type type;
  std::size_t count = 0;  // number of heads if each head has a separate tensor; 0 if all heads share one tensor
  Extents extents{};
  std::size_t inputs = 0;           // columns of a matrix of int8 or int4 weights
  bool rotated = false;             // whether these weights are rotated
  std::size_t quantised_bytes = 0;  // size of the tensor in bytes if NAME_quantise makes the tensor, else 0
  bool in_parts = false;            // whether the rows are those of queries, then of keys, then of values
};
using Tensors = List<Tensor, 24>;

template <class Element>
inline constexpr Type type_of = float32_type;
template <>
inline constexpr Type type_of<const ladon::BFloat16> = bfloat16_type;
template <>
inline constexpr Type type_of<const std::int8_t> = int8_type;
template <>
inline constexpr Type type_of<const std::uint8_t> = int4_type;
template <>
inline constexpr Type type_of<const std::int32_t> = int32_type;

// The element type, the extents and the size in bytes of a TensorView.
template <class View>
struct ViewOf;
template <class Element, std::size_t... Sizes>
struct ViewOf<ladon::TensorView<Element, Sizes...>> {
  static constexpr Type type = type_of<Element>;
  static constexpr Extents extents{Sizes...};
  static constexpr std::size_t bytes = (sizeof(Element) * ... * Sizes);
};

// Adds a tensor that belongs to a linear map with int8 or int4 weights.
template <class View, class Linear>
constexpr void add_quantised(Tensors& list, std::string_view part, std::string_view member) {
  list.add({part, member, ViewOf<View>::type, 0, ViewOf<View>::extents, Linear::inputs, Linear::rotated,
            ViewOf<View>::bytes});
}

// Adds the tensors of one part. `Part` is a Linear, a Norm, a vector, or an array with a Linear for each head.
template <class Part>
constexpr void add_part(Tensors& list, std::string_view name, std::size_t count = 0) {
  if constexpr (requires { Part::weight; }) {
    using Weight = ViewOf<decltype(Part::weight)>;
    if constexpr (requires { Part::scale; }) {
      add_quantised<decltype(Part::weight), Part>(list, name, "_weight");
      add_quantised<decltype(Part::scale), Part>(list, name, "_weight_scale");
      add_quantised<decltype(Part::row_sum), Part>(list, name, "_weight_row_sum");
    } else {
      list.add({name, "_weight", Weight::type, count, Weight::extents});
    }
    if constexpr (requires { Part::bias.data; }) {  // int8 weights without a bias have an empty `bias`
      using Bias = ViewOf<decltype(Part::bias)>;
      list.add({name, "_bias", Bias::type, count, Bias::extents});
    }
  } else if constexpr (requires { Part::data; }) {
    list.add({name, "", ViewOf<Part>::type, count, ViewOf<Part>::extents});
  } else {
    add_part<typename Part::value_type>(list, name, std::tuple_size_v<Part>);
  }
}

#define LADON_ADD(part)                                                             \
  if constexpr (requires { requires !std::is_empty_v<decltype(Weights::part)>; }) { \
    add_part<decltype(Weights::part)>(list, #part);                                 \
  }
// attention_tensors returns the tensors of an attention. layer_tensors returns the tensors of a layer except the
// tensors of its attentions. stack_tensors returns the tensors of a stack except the tensors of its layers.
template <class Weights>
constexpr Tensors attention_tensors() {
  Tensors list;
  LADON_ATTENTION_PARTS(LADON_ADD)
  if constexpr (requires { requires Weights::in_parts; }) {
    for (Tensor& tensor : list) tensor.in_parts = tensor.part == "in_proj";
  }
  return list;
}
template <class Weights>
constexpr Tensors layer_tensors() {
  Tensors list;
  LADON_LAYER_PARTS(LADON_ADD)
  return list;
}
template <class Weights>
constexpr Tensors stack_tensors() {
  Tensors list;
  LADON_STACK_PARTS(LADON_ADD)
  return list;
}
#undef LADON_ADD

// Returns the names of the members of `Layer` that are attentions: "attention", or "self_attention" and
// "cross_attention".
using AttentionNames = List<std::string_view, 2>;
template <class Layer>
constexpr AttentionNames attention_names() {
  AttentionNames names;
#define LADON_ADD_NAME(attention) \
  if constexpr (requires { Layer::attention; }) names.add(#attention);
  LADON_ATTENTIONS(LADON_ADD_NAME)
#undef LADON_ADD_NAME
  return names;
}

// The structure of a kernel's weights. `Layer` is the type of a layer's weights. `Attention` is the type of an
// attention's weights, and a decoder layer has two attentions with weights of this type. `layers` is the number of
// layers of a stack.
template <class Weights>
struct Structure {  // an attention
  static constexpr std::string_view kind = "attention";
  static constexpr std::size_t layers = 0;
  using Layer = Weights;
  using Attention = Weights;
};
template <class Weights>
  requires requires { Weights::attention; }
struct Structure<Weights> {
  static constexpr std::string_view kind = "encoder_layer";
  static constexpr std::size_t layers = 0;
  using Layer = Weights;
  using Attention = decltype(Weights::attention);
};
template <class Weights>
  requires requires { Weights::self_attention; }
struct Structure<Weights> {
  static constexpr std::string_view kind = "decoder_layer";
  static constexpr std::size_t layers = 0;
  using Layer = Weights;
  using Attention = decltype(Weights::self_attention);
  static_assert(std::is_same_v<Attention, decltype(Weights::cross_attention)>);
};
template <class Weights>
  requires requires { Weights::layers; }
struct Structure<Weights> {
  using Layers = decltype(Weights::layers);
  static constexpr std::size_t layers = std::tuple_size_v<Layers>;
  using Layer = typename Layers::value_type;
  using Attention = typename Structure<Layer>::Attention;
  static constexpr std::string_view kind = Structure<Layer>::kind == "decoder_layer" ? "decoder" : "encoder";
};

// NAME_quantise places its tensors one after the other, each at a multiple of 64 bytes.
inline constexpr std::size_t quantised_alignment = 64;
constexpr std::size_t aligned_size(std::size_t bytes) {
  return (bytes + quantised_alignment - 1) / quantised_alignment * quantised_alignment;
}

// Returns the size in bytes of all tensors that NAME_quantise makes, or 0 if the weights are not quantised.
template <class Weights>
constexpr std::size_t quantised_bytes() {
  using Parts = Structure<Weights>;
  std::size_t bytes = 0;
  const auto add = [&](const Tensors& tensors) {
    for (const Tensor& tensor : tensors) bytes += aligned_size(tensor.quantised_bytes);
  };
  constexpr std::size_t attentions = attention_names<typename Parts::Layer>().count;
  for (std::size_t i = 0; i < attentions; ++i) add(attention_tensors<typename Parts::Attention>());
  if (attentions == 0) add(attention_tensors<typename Parts::Attention>());
  add(layer_tensors<typename Parts::Layer>());
  return Parts::layers > 0 ? Parts::layers * bytes : bytes;
}

}  // namespace c_kernel::inline LADON_ABI
