// SPDX-License-Identifier: Apache-2.0
// Describes stored weights in two texts: the list of the tensors that ladon-weights takes from a checkpoint, and the
// initialiser of NAME_stored_weights, which points to the stored tensors.
#pragma once

#include <string_view>

#include <ladon/ladon.hpp>

#include "describe_c.hpp"
#include "tensors.hpp"
#include "text.hpp"

namespace c_kernel::inline LADON_ABI {

// States to which part of the weights a tensor belongs. All layers of a stack have equal lists of tensors, so the
// description contains the list of one layer, with "@layer@" instead of the number of the layer. put_description.cmake
// repeats the list for each layer.
struct Place {
  bool in_stack = false;
  std::string_view attention = "";  // the attention of the layer, or "" if the tensor belongs to no attention

  // Writes the text before the tensor's name. With the separator ".", an example is "layers.@layer@.attention.".
  constexpr void write(Writer& out, std::string_view separator) const {
    if (in_stack) out << "layers" << separator << "@layer@" << separator;
    if (!attention.empty()) out << attention << separator;
  }
};

// Writes a line for each tensor, for ladon-weights (src/weights/spec.hpp). An example is
// "layers.0.attention.in_proj_weight 384+384+384 384", which has the name, the outputs and the inputs. A line ends with
// the type of the elements if they are not float32, or with "int8 rotated" for rotated int8 weights. The scales and the
// row sums of int8 and int4 weights have no lines of their own, because ladon-weights adds both to each of these
// tensors.
template <ladon::Shape S, class Settings>
struct StoredLines {
  static constexpr bool in_out = Settings::model.layout == ladon::LayoutKind::in_out ||
                                 Settings::model.layout == ladon::LayoutKind::in_proj_in_out;
  Writer& out;
  constexpr void tensors(const Place& place, const Tensors& list) const {
    for (const Tensor& tensor : list) {
      const bool is_weight = tensor.member == "_weight";
      if (tensor.quantised_bytes > 0 && !is_weight) continue;
      place.write(out, ".");
      out << tensor.part << tensor.member << " ";
      extents(tensor);
      if (tensor.type.name != float32_type.name) out << " " << tensor.type.name;
      if (tensor.rotated) out << " rotated";
      out << "\n";
    }
  }
  constexpr void extents(const Tensor& tensor) const {
    const bool is_packed = tensor.part == "in_proj", is_matrix = tensor.extents[1] > 0;
    const bool is_turned = in_out && is_matrix && !tensor.part.ends_with("norm");
    if (is_packed) {
      out << S.query_rows() << "+" << S.key_rows() << "+" << S.value_rows();
    } else {
      out << tensor.extents[is_turned ? 1 : 0];
    }
    if (is_matrix) out << " " << (tensor.inputs > 0 ? tensor.inputs : tensor.extents[is_turned ? 0 : 1]);
    if (is_turned) out << " in_out";
    if (is_packed && Settings::model.projection_blocks > 1) out << " blocks " << Settings::model.projection_blocks;
    if (is_packed && Settings::model.values_before_keys) out << " values_first";
  }
  constexpr void open_member(std::string_view) const {}
  constexpr void open() const {}
  constexpr void close() const {}
};

// Writes the initialiser of NAME_stored_weights. For each tensor, the initialiser contains a pointer: the address of an
// array such as NAME_stored_float32, plus an offset such as at::layers_0_attention_in_proj_weight. The array is the
// stored data with the element type of the tensor (stored_weights.cpp.in). The name of the offset is the name of the
// tensor with "_" for each ".".
struct StoredInitialiser {
  Writer& out;
  constexpr void tensors(const Place& place, const Tensors& list) const {
    for (const Tensor& tensor : list) {
      out << "." << tensor.part << tensor.member << " = @name@_stored_" << tensor.type.name << " + at::";
      place.write(out, "_");
      out << tensor.part << tensor.member << ",\n";
    }
  }
  constexpr void open_member(std::string_view member) const { out << "." << member << " = {\n"; }
  constexpr void open() const { out << "{\n"; }
  constexpr void close() const { out << "},\n"; }
};

template <class Layer, class Format>
constexpr void write_stored_layer(const Format& format, Place place) {
  for (const std::string_view attention : attention_names<Layer>()) {
    format.open_member(attention);
    place.attention = attention;
    format.tensors(place, attention_tensors<typename Structure<Layer>::Attention>());
    format.close();
  }
  place.attention = "";
  format.tensors(place, layer_tensors<Layer>());
}

// Writes all tensors of a kernel in the order of NAME_weights.
template <class Weights, class Format>
constexpr void write_stored(const Format& format) {
  using Parts = Structure<Weights>;
  if constexpr (Parts::kind == "attention") {
    format.tensors({}, attention_tensors<Weights>());
  } else if constexpr (Parts::layers == 0) {
    write_stored_layer<Weights>(format, {});
  } else {
    format.open_member("layers");
    format.out << "LADON_REPEAT " << Parts::layers << "\n";
    format.open();
    write_stored_layer<typename Parts::Layer>(format, {.in_stack = true});
    format.close();
    format.out << "LADON_REPEATED\n";
    format.close();
    format.tensors({}, stack_tensors<Weights>());
  }
}

}  // namespace c_kernel::inline LADON_ABI
