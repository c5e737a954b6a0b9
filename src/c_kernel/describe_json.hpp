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

// True if WebAssembly modules of the kernel can exist. Attention without projections and decoders have no modules,
// because the programs that load modules cannot call these kernels.
template <class Settings>
inline constexpr bool has_module = !Settings::given && Settings::memory == 0;

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

constexpr void write_json_tensors(Commas& commas, std::string_view path, const Tensors& tensors) {
  for (const Tensor& tensor : tensors) {
    Writer& out = commas.next();
    out << "{\"name\":\"" << path << tensor.part << tensor.member << "\",";
    write_json_array(out, tensor.type, tensor.count, tensor.extents);
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
    write_json_tensors(layer, "attention.", attention);
    write_json_tensors(layer, "", layer_tensors<typename Parts::Layer>());
  }
  out << "]";
}

constexpr void write_json_options(Writer& out, const Options& options) {
  out << ",\"options\":[";
  Commas commas(out);
  for (const Option& option : options) {
    commas.next() << "{\"name\":\"" << option.name << "\",";
    write_json_array(out, option.type, option.count, option.extents);
    write_json_names(out, "axes", option.axes);
    write_json_names(out, "masks", option.masks);
    if (!option.of.empty()) out << ",\"of\":\"" << option.of << "\"";
    if (option.required) out << ",\"required\":true";
    if (option.type.is_output) out << ",\"output\":true";
    out << "}";
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
  if (Settings::int8) out << ",\"activationBits\":" << Settings::model.activation_bits;
  if (Settings::rotated) out << ",\"rotated\":true";
  out << ",\"capture\":\"" << Settings::captured << "\",\"layout\":\"" << Settings::layout
      << "\",\"workspace\":@workspace_bytes@,\"cache\":@cache_bytes@";
  if (Settings::model.projection_blocks > 1) out << ",\"projectionBlocks\":" << Settings::model.projection_blocks;
  if (Settings::model.values_before_keys) out << ",\"valuesBeforeKeys\":true";
  if (Settings::cache) out << ",\"cachePrecision\":\"" << Settings::cache_precision << "\"";
  write_json_weights<typename Kernel::Weights>(out);
  write_json_options(out, options_of<Kernel, Settings>());
  out << ",\"functions\":[";
  Commas names(out);
  for (const Function& function : functions_of<Kernel, Settings>()) names.next() << "\"" << function.name << "\"";
  out << "]";
  if constexpr (Position::rotates) {
    out << ",\"rotary\":{\"positions\":" << Position::positions << ",\"width\":" << Position::width << "}";
  }
}

}  // namespace c_kernel::inline LADON_ABI
