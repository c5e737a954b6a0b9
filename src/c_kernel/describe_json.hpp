// SPDX-License-Identifier: Apache-2.0
// Writes the description of a kernel as members of a JSON object, for the programs that load a WebAssembly module.
// CMake adds the members that do not depend on the C++ type: the version, the name, the variant and the arguments.
#pragma once

#include <cstddef>
#include <string_view>

#include <ladon/ladon.hpp>

#include "describe_options.hpp"
#include "functions.hpp"
#include "masks.hpp"
#include "tensors.hpp"
#include "text.hpp"

namespace c_kernel::inline LADON_ABI {

// Writes the commas of a JSON array or object: next() writes a comma before every item except the first item.
class Commas {
 public:
  constexpr explicit Commas(Writer& out) : out_(out) {}
  constexpr Writer& next() {
    if (!first_) out_ << ",";
    first_ = false;
    return out_;
  }

 private:
  Writer& out_;
  bool first_ = true;
};

// Writes `,"<key>":["<name>", ...]`. Leaves out empty names, and writes nothing if all names are empty.
template <class Names>
constexpr void write_json_names(Writer& out, std::string_view key, const Names& names) {
  bool any = false;
  for (const std::string_view name : names) any = any || !name.empty();
  if (!any) return;
  out << ",\"" << key << "\":[";
  Commas commas(out);
  for (const std::string_view name : names) {
    if (!name.empty()) commas.next() << "\"" << name << "\"";
  }
  out << "]";
}

// Writes the JSON members "type", "count" and "shape" of an option or a tensor. Omits "count" if `count` is 0, which
// stands for a single array. Otherwise, `count` is the number of arrays.
constexpr void write_json_array(Writer& out, const Type& type, std::size_t count, const Extents& extents) {
  out << "\"type\":\"" << type.name << "\"";
  if (count > 0) out << ",\"count\":" << count;
  if (extents[0] == 0) return;
  out << ",\"shape\":[";
  Commas commas(out);
  for (const std::size_t extent : extents) {
    if (extent > 0) commas.next() << extent;
  }
  out << "]";
}

// `path` is the member of the layer that has the tensors, or "". For a matrix of int4 weights, also writes the number
// of weights of a row, because `shape` counts bytes.
constexpr void write_json_tensors(Commas& commas, std::string_view path, const Tensors& tensors) {
  for (const Tensor& tensor : tensors) {
    Writer& out = commas.next();
    out << "{\"name\":\"" << path << (path.empty() ? "" : ".") << tensor.part << tensor.member << "\",";
    write_json_array(out, tensor.type, tensor.count, tensor.extents);
    if (tensor.type.name == int4_type.name) out << ",\"inputs\":" << tensor.inputs;
    out << "}";
  }
}

// Writes the member "weights". For layers and stacks, also writes the member "layer", which has the tensors of one
// layer.
template <class Weights>
constexpr void write_json_weights(Writer& out) {
  using Parts = Structure<Weights>;
  const auto attention = attention_tensors<typename Parts::Attention>();
  Commas weights(out), layer(out);
  out << ",\"weights\":[";
  if constexpr (Parts::kind == "attention") {
    write_json_tensors(weights, "", attention);
  } else {
    if constexpr (Parts::layers > 0) write_json_tensors(weights, "", stack_tensors<Weights>());
    out << "],\"layer\":[";
    for (const std::string_view name : attention_names<typename Parts::Layer>()) {
      write_json_tensors(layer, name, attention);
    }
    write_json_tensors(layer, "", layer_tensors<typename Parts::Layer>());
  }
  out << "]";
}

// `path` stands before the names of the options: "memory." for the members of the struct `memory`.
constexpr void write_json_options(Commas& commas, std::string_view path, const Options& options) {
  for (const Option& option : options) {
    Writer& out = commas.next();
    out << "{\"name\":\"" << path << option.name << "\",";
    write_json_array(out, option.type, option.count, option.extents);
    write_json_names(out, "axes", option.axes);
    write_json_names(out, "masks", option.masks);
    if (!option.of.empty()) out << ",\"of\":\"" << path << option.of << "\"";
    if (option.required) out << ",\"required\":true";
    if (option.type.is_output) out << ",\"output\":true";
    out << "}";
  }
}

// Writes the members "arrays", "options" and "functions": the arguments of the functions that a module exports.
template <class Kernel, class Settings>
constexpr void write_json_calls(Writer& out) {
  Commas arrays(out), options(out), functions(out);
  out << ",\"arrays\":[";
  write_json_options(arrays, "", arrays_of<Kernel, Settings>());
  out << "],\"options\":[";
  write_json_options(options, "", options_of<Kernel, Settings>());
  if constexpr (Settings::memory > 0) write_json_options(options, "memory.", memory_options_of<Kernel, Settings>());
  out << "],\"functions\":[";
  for (const Function& function : functions_of<Kernel, Settings>()) {
    if (function.exported.empty()) continue;
    functions.next() << "{\"name\":\"" << function.exported << "\",\"parameters\":[";
    Commas parameters(out);
    for (const Parameter& each : function.parameters) parameters.next() << "\"" << each.name << "\"";
    out << "]}";
  }
  out << "]";
}

template <class Kernel, class Settings>
constexpr void write_json(Writer& out) {
  using Parts = Structure<typename Kernel::Weights>;
  using Position = typename Settings::Position;
  out << "\"deterministic\":" << (LADON_DETERMINISTIC ? "true" : "false") << ",\"kind\":\"" << Parts::kind
      << "\",\"queries\":@queries@,\"keys\":@keys@,\"model\":@model@,\"heads\":@heads@,\"kvHeads\":@kv_heads@"
         ",\"headWidth\":@head_width@,\"valueWidth\":@value_width@,\"keyModel\":@key_model@"
         ",\"valueModel\":@value_model@";
  if (Settings::feed_forward > 0) out << ",\"feedForward\":" << Settings::feed_forward;
  if (Settings::memory > 0) out << ",\"memory\":" << Settings::memory;
  if (Parts::layers > 0) out << ",\"layers\":" << Parts::layers;
  if (Settings::model.has_unnormed_kind()) {
    out << ",\"unnormed\":[";
    Commas layers(out);
    for (std::size_t i = 0; i < Parts::layers; ++i)
      if (Settings::model.unnormed(i)) layers.next() << i;
    out << "]";
  }
  out << ",\"context\":" << (Settings::context ? "true" : "false") << ",\"mask\":[";
  Commas commas(out);
  Settings::Masks::each([&]<class Entry>(Entry) { commas.next() << "\"" << Entry::name << "\""; });
  out << "],\"precision\":\"" << Settings::precision << "\"";
  if (Settings::quantised) out << ",\"activationBits\":" << Settings::model.activation_bits;
  if (Settings::rotated) out << ",\"rotated\":true";
  out << ",\"capture\":\"" << Settings::captured << "\",\"layout\":\"" << Settings::layout
      << "\",\"workspace\":@workspace_bytes@,\"cache\":@cache_bytes@,\"memoryCache\":@memory_cache_bytes@";
  if (Settings::model.projection_blocks > 1) out << ",\"projectionBlocks\":" << Settings::model.projection_blocks;
  if (Settings::model.values_before_keys) out << ",\"valuesBeforeKeys\":true";
  if (Settings::cache) out << ",\"cachePrecision\":\"" << Settings::cache_precision << "\"";
  if constexpr (Settings::threads) {
    out << ",\"threads\":{\"phases\":" << Kernel::phases << ",\"shared\":@shared_bytes@,\"scratch\":@scratch_bytes@}";
  }
  write_json_weights<typename Kernel::Weights>(out);
  write_json_calls<Kernel, Settings>(out);
  if constexpr (Position::rotates) {
    out << ",\"rotary\":{\"positions\":" << Position::positions << ",\"width\":" << Position::width << "}";
  }
}

}  // namespace c_kernel::inline LADON_ABI
