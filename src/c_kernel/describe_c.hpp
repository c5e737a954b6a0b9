// SPDX-License-Identifier: Apache-2.0
// Writes the description of a kernel as C text: the parts of NAME.h, and the list of functions that kernel.cpp.in and
// dispatch.cpp.in include (NAME_functions.inc).
#pragma once

#include <cstddef>
#include <string_view>

#include <ladon/ladon.hpp>

#include "describe_options.hpp"
#include "functions.hpp"
#include "tensors.hpp"
#include "text.hpp"

namespace c_kernel::inline LADON_ABI {

// Returns whether the kernel has functions for several threads: NAME_run_phase or NAME_extend_phase.
template <class Settings>
constexpr bool has_phases() {
  return !(Settings::cache && Settings::context);
}

// Writes a #define for each size of the shape. Also writes the number of tokens in a decoder's memory, the width of the
// feed-forward network, the number of layers and the number of phases, if the kernel has them.
template <class Kernel, class Settings>
constexpr void write_constants(Writer& out) {
  out << "#define @NAME@_QUERIES @queries@\n#define @NAME@_KEYS @keys@\n#define @NAME@_MODEL @model@\n"
         "#define @NAME@_HEADS @heads@\n#define @NAME@_KV_HEADS @kv_heads@\n#define @NAME@_HEAD_WIDTH @head_width@\n"
         "#define @NAME@_VALUE_WIDTH @value_width@\n#define @NAME@_KEY_MODEL @key_model@\n"
         "#define @NAME@_VALUE_MODEL @value_model@\n";
  if (Settings::memory > 0) out << "#define @NAME@_MEMORY " << Settings::memory << "\n";
  if (Settings::feed_forward > 0) out << "#define @NAME@_FEED_FORWARD " << Settings::feed_forward << "\n";
  constexpr std::size_t layers = Structure<typename Kernel::Weights>::layers;
  if (layers > 0) out << "#define @NAME@_LAYERS " << layers << "\n";
  if constexpr (has_phases<Settings>()) out << "#define @NAME@_PHASES " << Kernel::phases << "\n";
}

// Writes NAME_CACHE_BYTES for a kernel with a cache, NAME_MEMORY_CACHE_BYTES for a decoder with a cache, and
// NAME_TEAM_WORKSPACE_BYTES for a kernel with functions for several threads. In place of the numbers, writes words such
// as @cache_bytes@, which put_description.cmake replaces.
template <class Settings>
constexpr void write_memory(Writer& out) {
  if (Settings::cache) {
    out << "/* A cache is aligned like a workspace. Only the functions below know the content of a cache. */\n"
           "#define @NAME@_CACHE_BYTES @cache_bytes@\n";
  }
  if (Settings::cache && Settings::memory > 0) {
    out << "/* The cache that @name@_project_memory fills. */\n"
           "#define @NAME@_MEMORY_CACHE_BYTES @memory_cache_bytes@\n";
  }
  if (has_phases<Settings>()) {
    out << "/* The workspace of a call that several threads compute in @NAME@_PHASES phases. */\n"
           "#define @NAME@_TEAM_WORKSPACE_BYTES(threads) (@shared_bytes@u + (threads) * @scratch_bytes@u)\n";
  }
}

constexpr void write_extents(Writer& out, const Extents& extents) {
  for (const std::size_t extent : extents) {
    if (extent > 0) out << "[" << extent << "]";
  }
}

// Writes the number of rows of a tensor. If in_proj has the rows of queries, then of keys, then of values, the function
// writes three numbers, with the text `plus` between the numbers.
template <ladon::Shape S>
constexpr void write_rows(Writer& out, const Tensor& tensor, std::string_view plus) {
  if (tensor.in_parts) {
    out << S.query_rows() << plus << S.key_rows() << plus << S.value_rows();
  } else {
    out << tensor.extents[0];
  }
}

template <ladon::Shape S>
constexpr void write_tensor_members(Writer& out, const Tensors& tensors) {
  for (const Tensor& tensor : tensors) {
    out << "  " << tensor.type.c_type << tensor.part << tensor.member;
    if (tensor.count > 0) out << "[" << tensor.count << "]";
    out << "; /* [";
    write_rows<S>(out, tensor, " + ");
    out << "]";
    write_extents(out, {tensor.extents[1], tensor.extents[2]});
    out << " */\n";
  }
}

// Writes the struct of the weights, and the structs of its members. `name` is the beginning of the names of all these
// structs.
template <ladon::Shape S, class Weights>
constexpr void write_weight_structs(Writer& out, std::string_view name) {
  using Parts = Structure<Weights>;
  constexpr bool is_attention = Parts::kind == "attention";
  const std::string_view attention = is_attention ? "weights" : "attention_weights";
  out << "typedef struct " << name << attention << " {\n";
  write_tensor_members<S>(out, attention_tensors<typename Parts::Attention>());
  out << "} " << name << attention << ";\n";
  if (is_attention) return;
  const std::string_view layer = Parts::layers > 0 ? "layer_weights" : "weights";
  out << "\ntypedef struct " << name << layer << " {\n";
  for (const std::string_view member : attention_names<typename Parts::Layer>()) {
    out << "  " << name << "attention_weights " << member << ";\n";
  }
  write_tensor_members<S>(out, layer_tensors<typename Parts::Layer>());
  out << "} " << name << layer << ";\n";
  if (Parts::layers == 0) return;
  out << "\ntypedef struct " << name << "weights {\n  " << name << "layer_weights layers[" << Parts::layers << "];\n";
  write_tensor_members<S>(out, stack_tensors<Weights>());
  out << "} " << name << "weights;\n";
}

// Writes NAME_weights, unless the kernel has no weights. For int8 weights, also writes NAME_float_weights and the size
// of the memory that NAME_quantise needs.
template <class Kernel, class Settings>
constexpr void write_weights(Writer& out) {
  constexpr ladon::Shape shape = Kernel::shape;
  using Weights = typename Kernel::Weights;
  if constexpr (Settings::given) return;
  out << "/* Pointers to the caller's tensors. A tensor is a row-major array, with the alignment of its elements. */\n";
  if (Settings::bfloat16) {
    out << "/* The weights of linear maps are bfloat16: an element is the upper 16 bits of a float. */\n";
  }
  if (Settings::quantised) {
    out << "/* Row r of a float matrix " << (Settings::rotated ? "W, times H, is about 8 * " : "is about ")
        << "X_weight_scale[r] * X_weight[r], where X_weight is "
        << (Settings::int4 ? "int4 (ladon/detail/vec/int4.hpp)" : "int8") << " and X_weight_scale is\n * "
        << (Settings::rotated ? "negative and finite" : "positive and finite")
        << (Settings::int4 ? ", or 0 for a row of zeros. " : ". ")
        << (Settings::rotated ? "H is in ladon/detail/panel/rows.hpp. " : "")
        << "X_weight_row_sum[r] is the sum of row r of X_weight. @name@_quantise makes "
           "these "
           "tensors. */\n";
  }
  write_weight_structs<shape, Weights>(out, "@name@_");
  if constexpr (Settings::quantised) {
    out << "\n/* The float weights of which @name@_quantise makes the weights above. */\n";
    write_weight_structs<shape, typename Settings::FloatWeights>(out, "@name@_float_");
    out << "\n/* The memory of the tensors that @name@_quantise makes. */\n#define @NAME@_QUANTISED_BYTES "
        << quantised_bytes<Weights>() << "\n#define @NAME@_QUANTISED_ALIGN " << quantised_alignment << "\n";
  }
}

template <class Position>
constexpr void write_rotary(Writer& out) {
  if constexpr (Position::rotates) {
    out << "\ntypedef struct @name@_rotary_table {\n";
    for (const std::string_view member : {"cosine", "sine"}) {
      out << "  float " << member << "[" << Position::width / 2 << "][" << Position::positions << "];\n";
    }
    out << "} @name@_rotary_table;\n";
  }
}

constexpr void write_option_members(Writer& out, const Options& options, std::string_view indent) {
  for (const Option& option : options) {
    out << indent << option.type.c_type << option.name;
    if (option.count > 0) out << "[" << option.count << "]";
    out << "; /* " << option.before;
    write_extents(out, option.extents);
    out << option.after << " */\n";
  }
}

// Writes the members of NAME_options. A decoder attends to a memory (the output of an encoder). The options of this
// attention are the last member, the struct `memory`.
template <class Kernel, class Settings>
constexpr void write_options(Writer& out) {
  write_option_members(out, options_of<Kernel, Settings>(), "  ");
  if constexpr (Settings::memory > 0) {
    out << "  struct {\n";
    write_option_members(out, memory_options_of<Kernel, Settings>(), "    ");
    out << "  } memory; /* the options of the attention to the memory */\n";
  }
}

constexpr void write_parameters(Writer& out, const Function& function) {
  std::string_view comma = "";
  for (const Parameter& each : function.parameters) {
    out << comma << each.type << each.name;
    comma = ", ";
  }
}

template <class Kernel, class Settings>
constexpr void write_declarations(Writer& out) {
  for (const Function& function : functions_of<Kernel, Settings>()) {
    // A failed cache_clear needs no check: the next call with this cache fails, too.
    const bool checked = function.result == "ladon_status" && function.name != "cache_clear";
    out << "/* " << function.comment << " */\n" << (checked ? "LADON_CHECK_STATUS " : "");
    out << function.result << " @name@_" << function.name << "(";
    write_parameters(out, function);
    out << ");\n";
  }
  if (Settings::stored) {
    out << "\n/* The weights that the library holds. */\nextern const @name@_weights @name@_stored_weights;\n";
  }
}

// Writes a macro call for each function: LADON_FUNCTION(result, name, exported name, (parameters), (arguments)). If
// WebAssembly modules do not have the function, the macro is LADON_LIBRARY_FUNCTION, which takes no exported name.
template <class Kernel, class Settings>
constexpr void write_functions(Writer& out) {
  for (const Function& function : functions_of<Kernel, Settings>()) {
    out << (function.name.ends_with("_phase")                             ? "LADON_PHASE_FUNCTION("
            : function.exported == "run" || function.exported == "extend" ? "LADON_CALL_FUNCTION("
            : function.exported.empty()                                   ? "LADON_LIBRARY_FUNCTION("
                                                                          : "LADON_FUNCTION(")
        << function.result << ", " << function.name << ", ";
    if (!function.exported.empty()) out << function.exported << ", ";
    out << "(";
    write_parameters(out, function);
    std::string_view comma = "), (";
    for (const Parameter& each : function.parameters) {
      out << comma << each.name;
      comma = ", ";
    }
    out << "))\n";
  }
}

}  // namespace c_kernel::inline LADON_ABI
