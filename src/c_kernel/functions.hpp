// SPDX-License-Identifier: Apache-2.0
// Lists the C functions of a kernel: names, parameters and comments. describe_c.hpp writes the functions into NAME.h,
// and describe_json.hpp writes their names into the description of a WebAssembly module. run_entry.hpp,
// given_entry.hpp, attend_entry.hpp, extend_entry.hpp and quantise_weights.hpp implement the functions.
#pragma once

#include <cstddef>
#include <initializer_list>
#include <string_view>

#include "text.hpp"

namespace c_kernel::inline LADON_ABI {

// A parameter of a C function. The declaration of the parameter is `type` followed by `name`.
struct Parameter {
  std::string_view type;
  std::string_view name;
};
namespace parameter {
inline constexpr Parameter phase{"size_t ", "phase"};
inline constexpr Parameter share{"size_t ", "share"};
inline constexpr Parameter shares{"size_t ", "shares"};
inline constexpr Parameter x{"const float *", "x"};
inline constexpr Parameter context{"const float *", "context"};
inline constexpr Parameter key_context{"const float *", "key_context"};
inline constexpr Parameter value_context{"const float *", "value_context"};
inline constexpr Parameter weights{"const @name@_weights *", "weights"};
inline constexpr Parameter y{"float *", "y"};
inline constexpr Parameter workspace{"void *", "workspace"};
inline constexpr Parameter options{"const @name@_options *", "options"};
inline constexpr Parameter cache{"void *", "cache"};
inline constexpr Parameter filled_cache{"const void *", "cache"};
inline constexpr Parameter memory_tokens{"const float *", "memory"};
inline constexpr Parameter memory_cache{"void *", "memory_cache"};
inline constexpr Parameter filled_memory_cache{"const void *", "memory_cache"};
inline constexpr Parameter q{"const float *", "q"};
inline constexpr Parameter k{"const float *", "k"};
inline constexpr Parameter v{"const float *", "v"};
inline constexpr Parameter out{"float *", "out"};
inline constexpr Parameter table{"@name@_rotary_table *", "table"};
inline constexpr Parameter relative{"float *", "table"};
inline constexpr Parameter bias{"const float *", "bias"};
inline constexpr Parameter buckets{"size_t ", "buckets"};
inline constexpr Parameter causal{"int ", "causal"};
inline constexpr Parameter max_distance{"size_t ", "max_distance"};
inline constexpr Parameter base{"double ", "base"};
inline constexpr Parameter scaling{"double ", "scaling"};
inline constexpr Parameter rotary_scaling{"const ladon_rotary_scaling *", "scaling"};
inline constexpr Parameter from{"const @name@_float_weights *", "from"};
inline constexpr Parameter to{"@name@_weights *", "to"};
inline constexpr Parameter memory{"void *", "memory"};
}  // namespace parameter

struct Function {
  std::string_view name;
  std::string_view exported;  // the name in a WebAssembly module; empty if modules do not have the function
  std::string_view result;
  std::string_view comment;
  List<Parameter, 10> parameters{};

  constexpr Function& operator<<(const Parameter& more) {
    parameters.add(more);
    return *this;
  }
};
using Functions = List<Function, 12>;

// Adds NAME_run, NAME_run_with and NAME_run_phase, the functions of a kernel without a cache. Only a WebAssembly module
// for threads has run_phase. A module exports NAME_run_with under the name `run`, so `run` of a module takes options.
template <class Settings>
constexpr void add_run(Functions& functions) {
  using namespace parameter;
  Function run{.name = "run",
               .exported = "",
               .result = "ladon_status",
               .comment = "Computes y from x. x and y are [@queries@][@model@]; y may be x itself."};
  Function run_with{.name = "run_with",
                    .exported = "run",
                    .result = "ladon_status",
                    .comment = "Like @name@_run, with options. NULL stands for default options."};
  Function run_phase{.name = "run_phase",
                     .exported = "",
                     .result = "ladon_status",
                     .comment =
                         "Computes one share of one phase of @name@_run_with. Each thread calls the phases 0 to "
                         "@NAME@_PHASES - 1\n * in this order, with its own share of `shares`; all other "
                         "arguments are equal. After each phase, a thread waits\n * for all other threads. The "
                         "workspace has @NAME@_TEAM_WORKSPACE_BYTES(shares), and must not change\n * between "
                         "phases."};
  run_phase << phase << share << shares;
  if constexpr (Settings::given) {
    run.comment =
        "Computes out from q [@heads@][@queries@][@head_width@], k [@kv_heads@][@keys@][@head_width@] and v "
        "[@kv_heads@][@keys@][@value_width@]. out is\n * [@heads@][@queries@][@value_width@]; out may be q itself if "
        "a value is as wide as a query.";
  } else if constexpr (Settings::memory > 0) {
    run.comment =
        "Computes y from x and memory, the output of an encoder. x and y are [@queries@][@model@]; y may be x itself. "
        "memory is\n * [@NAME@_MEMORY][@model@].";
  } else if constexpr (Settings::context) {
    run.comment =
        "Computes y from x and context. x and y are [@queries@][@model@]; y may be x itself. context is "
        "[@keys@][@key_model@].";
  }
  for (Function* function : {&run, &run_with, &run_phase}) {
    if constexpr (Settings::given) {
      *function << q << k << v << out << workspace;
    } else {
      *function << x;
      if (Settings::memory > 0) *function << memory_tokens;
      if (Settings::context) *function << context;
      *function << weights << y << workspace;
    }
    if (function != &run) *function << options;
    functions.add(*function);
  }
}

// Adds NAME_project_keys and NAME_attend, the functions of a kernel that projects a context once. If keys and values
// come from tokens of different widths, NAME_project_keys takes two contexts.
template <class Kernel>
constexpr void add_attend(Functions& functions) {
  using namespace parameter;
  constexpr bool two_contexts = Kernel::shape.key_model != Kernel::shape.value_model;
  Function project_keys{.name = "project_keys",
                        .exported = "project_keys",
                        .result = "ladon_status",
                        .comment = two_contexts
                                       ? "Replaces the content of the cache by the keys and values of the first "
                                         "options->keys tokens of\n * key_context [@keys@][@key_model@] and "
                                         "value_context [@keys@][@value_model@]."
                                       : "Replaces the content of the cache by the keys and values of the first "
                                         "options->keys tokens of\n * context [@keys@][@key_model@]."};
  if (two_contexts) {
    project_keys << key_context << value_context;
  } else {
    project_keys << context;
  }
  functions.add(project_keys << cache << weights << workspace << options);
  Function attend{.name = "attend",
                  .exported = "attend",
                  .result = "ladon_status",
                  .comment =
                      "Computes the attention of x to the content of the cache. x and y are "
                      "[@queries@][@model@]; y may be x itself."};
  functions.add(attend << x << filled_cache << weights << y << workspace << options);
}

// Adds NAME_extend and NAME_extend_phase, and for a decoder NAME_project_memory. Only a WebAssembly module for threads
// has extend_phase.
template <class Settings>
constexpr void add_extend(Functions& functions) {
  using namespace parameter;
  constexpr bool has_memory = Settings::memory > 0;
  if constexpr (has_memory) {
    Function project_memory{.name = "project_memory",
                            .exported = "project_memory",
                            .result = "ladon_status",
                            .comment =
                                "Replaces the content of memory_cache by the keys and values of the first "
                                "options->memory.keys tokens of\n * memory [@NAME@_MEMORY][@model@], the output of an "
                                "encoder. memory_cache has @NAME@_MEMORY_CACHE_BYTES, aligned like\n * a workspace. "
                                "Any number of texts may use one memory_cache at the same time."};
    functions.add(project_memory << memory_tokens << memory_cache << weights << workspace << options);
  }
  Function extend{.name = "extend",
                  .exported = "extend",
                  .result = "ladon_status",
                  .comment = has_memory
                                 ? "Appends the first options->tokens tokens of x to the cache. Computes their "
                                   "attention to all tokens in the cache and\n * to the memory that "
                                   "@name@_project_memory has stored. x and y are [@queries@][@model@]; y may be x "
                                   "itself."
                                 : "Appends the first options->tokens tokens of x to the cache, and computes their "
                                   "attention to all tokens in the\n * cache. x and y are [@queries@][@model@]; y "
                                   "may be x itself."};
  Function extend_phase{.name = "extend_phase",
                        .exported = "",
                        .result = "ladon_status",
                        .comment =
                            "Computes one share of one phase of @name@_extend. Each thread calls the phases 0 to "
                            "@NAME@_PHASES - 1\n * in this order, with its own share of `shares`; all other "
                            "arguments are equal. After each phase, a thread waits\n * for all other threads. The "
                            "workspace has @NAME@_TEAM_WORKSPACE_BYTES(shares). Between phases, neither the\n * "
                            "workspace nor the cache may change."};
  extend_phase << phase << share << shares;
  for (Function* function : {&extend, &extend_phase}) {
    *function << x << cache;
    if (has_memory) *function << filled_memory_cache;
    functions.add(*function << weights << y << workspace << options);
  }
}

// Adds NAME_cache_clear and NAME_cache_length, which every kernel with a cache has.
inline constexpr void add_cache(Functions& functions) {
  Function clear{.name = "cache_clear",
                 .exported = "cache_clear",
                 .result = "ladon_status",
                 .comment = "Empties the cache. A cache must be emptied before its first use."};
  functions.add(clear << parameter::cache);
  Function length{.name = "cache_length",
                  .exported = "cache_length",
                  .result = "size_t",
                  .comment = "Returns the number of tokens that were stored in the cache after the cache was emptied."};
  functions.add(length << parameter::filled_cache);
}

inline constexpr void add_rotary_fill(Functions& functions) {
  using namespace parameter;
  Function fill{.name = "rotary_fill",
                .exported = "rotary_fill",
                .result = "ladon_status",
                .comment =
                    "Fills the table with the cosines and sines of position / scaling * base^(-2 pair / width). "
                    "The usual base is\n * 10000, and the usual scaling is 1."};
  functions.add(fill << table << base << scaling);
  Function scale{
      .name = "rotary_scale",
      .exported = "rotary_scale",
      .result = "ladon_status",
      .comment = "Like @name@_rotary_fill, with frequencies that are scaled as a model's config.json states."};
  functions.add(scale << table << rotary_scaling);
}

inline constexpr void add_relative_fill(Functions& functions) {
  using namespace parameter;
  Function fill{.name = "relative_fill",
                .exported = "relative_fill",
                .result = "ladon_status",
                .comment =
                    "Fills the table of the option `relative` from bias [buckets][@heads@], the embedding of relative "
                    "positions of T5 and\n * MPNet. `causal`: not 0 for T5's decoders, whose buckets belong to earlier "
                    "keys alone. The usual max_distance is 128."};
  functions.add(fill << relative << bias << buckets << causal << max_distance);
}

// Adds NAME_quantise. Modules do not have this function: modules quantise weights row by row while a checkpoint arrives
// (module_int8.cpp.in).
constexpr void add_quantise(Functions& functions, bool has_4_bits) {
  using namespace parameter;
#define LADON_QUANTISE_COMMENT(type, scales)                                                                        \
  "Makes " type                                                                                                     \
  " weights in `memory`, and lets `to` point to them. `memory` has @NAME@_QUANTISED_BYTES, aligned to\n * "         \
  "@NAME@_QUANTISED_ALIGN, and must live as long as `to` is used. Biases and norms of `to` point to the tensors of" \
  "\n * `from`. All other tensors of `from` are not needed any more. " scales                                       \
  " LADON_NOT_FINITE: a weight is infinite or NaN."
  constexpr std::string_view of_int8 = LADON_QUANTISE_COMMENT(
      "int8",
      "Each row of int8 weights gets the scale (largest\n * magnitude) / 127; a row of zeros stays a row of zeros.");
  constexpr std::string_view of_int4 =
      LADON_QUANTISE_COMMENT("int4",
                             "Each row of int4 weights gets a scale, and\n * each group of 32 weights a table, with "
                             "the least squared error; a "
                             "row of zeros gets the scale 0.\n *");
#undef LADON_QUANTISE_COMMENT
  Function quantise{
      .name = "quantise", .exported = "", .result = "ladon_status", .comment = has_4_bits ? of_int4 : of_int8};
  functions.add(quantise << from << to << memory);
}

template <class Kernel, class Settings>
constexpr Functions functions_of() {
  Functions functions;
  if constexpr (!Settings::cache) {
    add_run<Settings>(functions);
  } else if constexpr (Settings::context) {
    add_attend<Kernel>(functions);
  } else {
    add_extend<Settings>(functions);
  }
  if (Settings::cache) add_cache(functions);
  if (Settings::Position::rotates) add_rotary_fill(functions);
  if (Settings::model.mask.relative) add_relative_fill(functions);
  if (Settings::quantised) add_quantise(functions, Settings::int4);
  return functions;
}

}  // namespace c_kernel::inline LADON_ABI
