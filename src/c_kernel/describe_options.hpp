// SPDX-License-Identifier: Apache-2.0
// Lists all members of NAME_options, in the order of the C struct. options.hpp and masks.hpp convert these members into
// the C++ options.
#pragma once

#include <string_view>

#include <ladon/ladon.hpp>

#include "masks.hpp"
#include "option_list.hpp"
#include "tensors.hpp"

namespace c_kernel::inline LADON_ABI {

// has_tokens states whether NAME_options has the member `tokens`. has_queries_and_keys states whether NAME_options has
// the members `queries` and `keys`. takes_context states whether NAME_run takes tokens besides x: a context, or the
// memory of a decoder.
template <class Settings>
inline constexpr bool has_tokens = !Settings::context;
template <class Settings>
inline constexpr bool has_queries_and_keys = Settings::context || !Settings::cache;
template <class Settings>
inline constexpr bool takes_context = Settings::context || Settings::memory > 0;

template <class Settings>
constexpr void add_lengths(Options& options) {
  if constexpr (has_tokens<Settings>) {
    options.add({.name = "tokens", .type = size_type, .before = "number of tokens of x; 0: all"});
  }
  if constexpr (has_queries_and_keys<Settings>) {
    constexpr bool context = Settings::context;
    options.add({.name = "queries",
                 .type = size_type,
                 .before = Settings::given ? "number of queries; 0: all"
                           : context       ? "number of rows of x; 0: all"
                                           : "number of rows of y; 0: as many as tokens"});
    options.add({.name = "keys",
                 .type = size_type,
                 .before = context ? "number of tokens that may be seen; 0: all"
                                   : "number of tokens that may be seen; 0: as many as tokens"});
  }
}

// Adds the options of all masks of a kernel. The option `offset`, which several masks may share, comes first.
template <ladon::Shape S, class Settings>
constexpr void add_masks(Options& options) {
  if (Settings::offset) {
    Option offset{.name = "offset",
                  .type = offset_type,
                  .before = "query i has the position i + offset among the keys; 0 is top left"};
    Settings::Masks::each([&]<class Entry>(Entry) {
      if (Entry::takes_offset) offset.masks.add(Entry::name);
    });
    options.add(offset);
  }
  Settings::Masks::each([&]<class Entry>(Entry) {
    const std::size_t before = options.count;
    Entry::template describe<S>(options);
    for (std::size_t i = before; i < options.count; ++i) options.items[i].masks.add(Entry::name);
  });
}

template <class Settings>
constexpr void add_position(Options& options) {
  if constexpr (Settings::Position::rotates) {
    constexpr std::size_t kinds = Settings::model.kinds.count;
    options.add({.name = "rotary",
                 .type = rotary_table_type,
                 .before = kinds > 0 ? "one table for each kind of layers; required" : "required",
                 .required = true,
                 .count = kinds});
    options.add({.name = "rotary_offset", .type = size_type, .before = "added to every position", .of = "rotary"});
  }
}

// Adds the option `attention`. S is the shape of the attention. The option is a pointer to an array, into which the
// kernel writes the attention weights or scores. For a stack, the option has such a pointer for each layer.
template <ladon::Shape S, class Kernel, class Settings>
constexpr void add_attention(Options& options) {
  constexpr std::size_t layers = Structure<typename Kernel::Weights>::layers;
  Option option{.name = "attention",
                .type = float32_output_type,
                .extents = {S.heads, S.queries, S.keys},
                .axes = {"heads", "queries", "keys"}};
  if (layers > 0) {
    option.before = "one pointer for each layer, to ";
    option.count = layers;
  }
  switch (Settings::stage) {
    case ladon::Stage::scaled:
      option.after = ": receives the scores before softcap and mask, or NULL";
      break;
    case ladon::Stage::capped:
      option.after = ": receives the scores before the mask, or NULL";
      break;
    case ladon::Stage::masked:
      option.after = ": receives the masked scores, or NULL";
      break;
    case ladon::Stage::weights:
    default:
      option.after = ": receives the attention weights, or NULL";
      break;
  }
  options.add(option);
}

template <ladon::Shape S, class Settings>
constexpr void add_sinks(Options& options) {
  if (!Settings::model.score.sinks) return;
  options.add({.name = "sinks",
               .type = float32_type,
               .extents = {S.heads},
               .axes = {"heads"},
               .after = "; required",
               .required = true});
}

// Returns the arrays that the functions of a kernel take, besides the weights. The array that receives the result has
// the type float32_output_type.
template <class Kernel, class Settings>
constexpr Options arrays_of() {
  constexpr ladon::Shape s = Kernel::shape;
  Options arrays;
  const auto add = [&](std::string_view name, Type type, Extents extents, Axes axes) {
    arrays.add({.name = name, .type = type, .extents = extents, .axes = axes});
  };
  if constexpr (Settings::given) {
    add("q", float32_type, {s.heads, s.queries, s.head_width}, {"heads", "queries", "headWidth"});
    add("k", float32_type, {s.kv_heads, s.keys, s.head_width}, {"kvHeads", "keys", "headWidth"});
    add("v", float32_type, {s.kv_heads, s.keys, s.value_width}, {"kvHeads", "keys", "valueWidth"});
    add("out", float32_output_type, {s.heads, s.queries, s.value_width}, {"heads", "queries", "valueWidth"});
    return arrays;
  }
  add("x", float32_type, {s.queries, s.model}, {"queries", "model"});
  if constexpr (Settings::memory > 0) add("memory", float32_type, {Settings::memory, s.model}, {"memory", "model"});
  if constexpr (Settings::context && s.key_model == s.value_model) {
    add("context", float32_type, {s.keys, s.key_model}, {"keys", "keyModel"});
  } else if constexpr (Settings::context) {
    add("key_context", float32_type, {s.keys, s.key_model}, {"keys", "keyModel"});
    add("value_context", float32_type, {s.keys, s.value_model}, {"keys", "valueModel"});
  }
  add("y", float32_output_type, {s.queries, s.model}, {"queries", "model"});
  return arrays;
}

// The settings of a decoder's attention to its memory. The struct has only the members that add_masks and OptionsReader
// (options.hpp) read.
template <class DecoderSettings>
struct MemorySettings {
  static constexpr ladon::Model model = DecoderSettings::model;
  using Masks = c_kernel::Masks<model.memory_mask>;
  using Position = ladon::position::Unrotated;
  static constexpr bool offset = false;
};

// Returns the members of the struct `memory` in the options of a decoder.
template <class Kernel, class Settings>
constexpr Options memory_options_of() {
  constexpr ladon::Shape shape = ladon::memory_shape<Kernel::shape, Settings::memory>();
  Options options;
  options.add({.name = "keys",
               .type = size_type,
               .before = Settings::cache ? "number of tokens that may be seen; 0: all tokens in the cache"
                                         : "number of tokens that may be seen; 0: all"});
  add_masks<shape, MemorySettings<Settings>>(options);
  add_sinks<shape, Settings>(options);
  if (Settings::capture) add_attention<shape, Kernel, Settings>(options);
  return options;
}

template <class Kernel, class Settings>
constexpr Options options_of() {
  constexpr ladon::Shape shape = Kernel::shape;
  Options options;
  add_lengths<Settings>(options);
  add_masks<shape, Settings>(options);
  add_sinks<shape, Settings>(options);
  add_position<Settings>(options);
  if (Settings::capture) add_attention<shape, Kernel, Settings>(options);
  if (Settings::dispatch) {
    options.add({.name = "isa", .type = isa_type, .before = "0: the fastest instruction set of this machine"});
  }
  return options;
}

}  // namespace c_kernel::inline LADON_ABI
