// SPDX-License-Identifier: Apache-2.0
// Compares the layers of a stack with the hidden states that a library recorded. README.md describes the folders.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include <ladon/ladon.hpp>
#include <ladon/safetensors.hpp>

#include "reduced.hpp"

namespace families {

using ladon::Model, ladon::PrecisionKind;

// The recorded tensors of a folder.
struct Recorded {
  ladon::safetensors::File file;
  [[nodiscard]] bool has(const std::string& name) const { return file.tensors().contains(name); }
  [[nodiscard]] std::size_t rows(const std::string& name) const { return file.tensors().at(name).shape.at(0); }
  // Returns a tensor [rows][width] and rows of zeros behind it, at least `most` rows.
  [[nodiscard]] std::vector<float> padded(const std::string& name, std::size_t width, std::size_t most) const {
    std::vector<float> values(std::max(most, rows(name)) * width);
    std::copy_n(file.tensor(name, {rows(name), width}), rows(name) * width, values.begin());
    return values;
  }
};

// The largest error of several comparisons, relative to the largest recorded magnitude. Prints each error to stderr.
struct Worst {
  double error = 0;
  std::string where;  // empty before the first comparison

  void compare(const std::vector<float>& y, const std::vector<float>& expected, const std::string& what) {
    double difference = 0, largest = 0;
    for (std::size_t i = 0; i < expected.size(); ++i) {
      const double d = std::abs(static_cast<double>(y[i]) - static_cast<double>(expected[i]));
      difference = std::max(difference, std::isfinite(d) ? d : std::numeric_limits<double>::infinity());
      largest = std::max(largest, std::abs(static_cast<double>(expected[i])));
    }
    std::fprintf(stderr, "%.1e %s\n", difference / largest, what.c_str());
    if (difference / largest < error) return;
    error = difference / largest;
    where = what;
  }
};

// Whether a file has tensors of this dtype.
inline bool stores(const ladon::safetensors::File& file, const std::string& dtype) {
  return std::any_of(file.tensors().begin(), file.tensors().end(),
                     [&](const auto& item) { return item.second.dtype == dtype; });
}

// The results of one folder.
struct Results {
  Worst float32, grown, bfloat16, int8;
  std::size_t layers = 0;
  double scores = 1;  // the RMS of scores: 1 with the usual scale, more in models without a scale (T5)
};

template <Model M>
constexpr Model with_precision(PrecisionKind precision) {
  Model m = M;
  m.precision = precision;
  m.layout = reduced_layout(m.layout);
  return m;
}
// For a text that grows by up to `tokens` tokens. Calls of up to `most` tokens use the same caches.
template <class Described>
constexpr Model with_cache(std::size_t tokens, std::size_t most) {
  if constexpr (requires { Described::grown(tokens, most); }) return Described::grown(tokens, most);
  Model m = Described::model;
  m.keys = m.tokens;
  m.tokens = tokens;
  return m;
}
// One layer of kind number `kind`.
template <Model M>
constexpr Model layer_of_kind(std::size_t kind) {
  Model m = M.one_layer();
  if (m.kinds.count != 0) m.kind_of_layer = {static_cast<std::uint8_t>(kind)};
  return m;
}

template <Model M, bool AttendsMemory>
struct StackOf : ladon::Encoder<M> {};
template <Model M>
struct StackOf<M, true> : ladon::Decoder<M> {};

// The stack of the description Described (check.cpp), with the weights of a folder.
template <class Described>
class StackCheck {
 public:
  StackCheck(const ladon::safetensors::Folder& folder, const Recorded& recorded)
      : folder_(folder), recorded_(recorded) {
    if (!stores(folder.file(), "I8")) weights_ = Described::load(folder);
    if constexpr (attends_memory) memory_ = recorded.padded("memory", width, M.memory);
  }

  // Each layer alone, and the whole stack.
  void run(Worst& worst) {
    for (std::size_t i = 0; i < M.layers; ++i) {
      if (!recorded_.has(begin + layer_name(i, ".out"))) continue;
      [&]<std::size_t... Kind>(std::index_sequence<Kind...>) {
        (void)((kind_of(i) == Kind && (run_layer<Kind>(i, worst), true)) || ...);
      }(std::make_index_sequence<std::max<std::size_t>(M.kinds.count, 1)>());
    }
    run_stack<Stack>(weights_, worst);
  }
  // The whole stack with bfloat16 or int8 weights, made of the float32 weights.
  template <PrecisionKind P>
  void run_reduced(Worst& worst) {
    using Reduced = StackOf<with_precision<M>(P), attends_memory>;
    Arena arena;
    typename Reduced::Weights weights{};
    reduce(weights_, weights, arena);
    run_stack<Reduced>(weights, worst);
  }
  // The whole stack with the weights as the folder stores them.
  template <PrecisionKind P>
  void run_stored(Worst& worst) {
    if constexpr (reduced_layout(M.layout) == M.layout) {
      using Stored = StackOf<with_precision<M>(P), attends_memory>;
      run_stack<Stored>(ladon::safetensors::load<Stored>(folder_), worst);
    }
  }
  // A text that grows by one token at a time, after a prompt of several tokens or of one.
  void grow(Worst& worst) {
    if constexpr (attends_memory || M.mask.causal) {
      using Prompt = StackOf<with_cache<Described>(most_prompt, most_prompt), attends_memory>;
      using Token = StackOf<with_cache<Described>(1, most_prompt), attends_memory>;
      for (const std::size_t prompt : {most_prompt, std::size_t{1}}) {
        static typename Token::Caches caches;
        clear(caches);
        const auto x = recorded_.padded(input(), width, M.tokens);
        std::vector<float> y(x.size());
        project_memory<Token>();
        if (prompt > 1) extend<Prompt>(x.data(), caches, y.data(), prompt);
        for (std::size_t i = prompt > 1 ? prompt : 0; i < recorded_.rows(input()); ++i) {
          extend<Token>(x.data() + i * width, caches, y.data() + i * width, 1);
        }
        compare(y, last(), "a text that grows, prompt of " + std::to_string(prompt), worst);
      }
    }
  }

 private:
  static constexpr Model M = Described::model;
  static constexpr std::size_t width = M.model, most_prompt = 7;
  using Stack = typename Described::Stack;
  static constexpr bool attends_memory = requires { typename Stack::MemoryCaches; };
  static constexpr const char* begin = attends_memory ? "decoder." : "";

  static std::size_t kind_of(std::size_t layer) {
    static constexpr Model m = M;
    return m.kinds.count == 0 ? 0 : m.kind_number(layer);
  }
  static void clear(auto& caches) {
    if constexpr (requires { caches.clear(); }) {
      caches.clear();
    } else {
      for (auto& cache : caches) cache.clear();
    }
  }
  // ALBERT calls layer 0 several times.
  [[nodiscard]] std::string layer_name(std::size_t i, const std::string& end) const {
    const std::string name = "layer." + std::to_string(i) + end;
    return recorded_.has(begin + name) ? name : "layer.0" + end + "." + std::to_string(i);
  }
  // The input and the output of the stack.
  [[nodiscard]] std::string input() const { return recorded_.has("x") ? "x" : begin + layer_name(0, ".in"); }
  [[nodiscard]] std::string last() const {
    if (recorded_.has("y")) return "y";
    if (M.final_norm == ladon::FinalNorm::without) return begin + layer_name(M.layers - 1, ".out");
    return !attends_memory && recorded_.has("encoder_last") ? "encoder_last" : "last";
  }
  void compare(const std::vector<float>& y, const std::string& expected, const std::string& what, Worst& worst) const {
    worst.compare(y, recorded_.padded(expected, width, 0), begin + what);
  }

  template <std::size_t Kind>
  void run_layer(std::size_t i, Worst& worst) {
    using Layer = StackOf<layer_of_kind<M>(Kind), attends_memory>;
    typename Layer::Weights weights{};
    weights.layers[0] = weights_.layers[i];
    compare(outputs<Layer>(weights, begin + layer_name(i, ".in")), begin + layer_name(i, ".out"),
            "layer " + std::to_string(i), worst);
  }
  template <class Any>
  void run_stack(const typename Any::Weights& weights, Worst& worst) {
    compare(outputs<Any>(weights, input()), last(), "stack", worst);
  }
  template <class Any>
  std::vector<float> outputs(const typename Any::Weights& weights, const std::string& in) {
    static typename Any::Workspace workspace;
    const auto x = recorded_.padded(in, width, M.tokens);
    std::vector<float> y(x.size());
    const auto options = options_of<Any>(recorded_.rows(in));
    if constexpr (attends_memory) {
      Any::run(x.data(), memory_.data(), weights, y.data(), workspace, options);
    } else {
      Any::run(x.data(), weights, y.data(), workspace, options);
    }
    return y;
  }

  // Appends tokens to a text.
  template <class Any>
  void extend(const float* x, typename Any::Caches& caches, float* y, std::size_t tokens) {
    static typename Any::CachedWorkspace workspace;
    if constexpr (attends_memory) {
      Any::extend(x, caches, memory_caches<typename Any::MemoryCaches>(), weights_, y, workspace,
                  options_of<Any>(tokens));
    } else {
      Any::extend(x, caches, weights_, y, workspace, options_of<Any>(tokens));
    }
  }
  // The type of the caches does not depend on the number of tokens of a call.
  template <class MemoryCaches>
  static MemoryCaches& memory_caches() {
    static MemoryCaches caches;
    return caches;
  }
  template <class Any>
  void project_memory() {
    if constexpr (attends_memory) {
      static typename Any::MemoryWorkspace workspace;
      Any::project_memory(memory_.data(), weights_, memory_caches<typename Any::MemoryCaches>(), workspace,
                          options_of<Any>(1));
    }
  }

  // Returns the options of a call: the number of tokens, and the tables that the description fills.
  template <class Any>
  typename Any::Options options_of(std::size_t tokens) {
    typename Any::Options options{};
    if constexpr (attends_memory) {
      options.memory.keys = recorded_.rows("memory");
      set_own(options.self, tokens);
    } else {
      set_own(options, tokens);
    }
    return options;
  }
  void set_own(auto& options, std::size_t tokens) {
    options.tokens = tokens;
    if constexpr (requires { options.position.table; }) set_rotary(options.position.table);
    set_relative(options.mask);
  }
  template <class Table>
  static void set_rotary(const Table*& table) {
    static Table tables[1];
    Described::fill_all(tables);
    table = tables;
  }
  // One table for each kind of layers, or one for all kinds.
  template <class Table, std::size_t Kinds>
  static void set_rotary(const Table* (&pointers)[Kinds]) {
    constexpr bool each = requires(Table(&tables)[Kinds]) { Described::fill_all(tables); };
    static Table tables[each ? Kinds : 1];
    Described::fill_all(tables);
    for (std::size_t kind = 0; kind < Kinds; ++kind) pointers[kind] = &tables[each ? kind : 0];
  }
  void set_relative(auto& mask) {
    if constexpr (requires { mask.first, mask.second; }) {
      set_relative(mask.first);
      set_relative(mask.second);
    } else if constexpr (requires { mask.table; }) {
      static std::remove_cvref_t<decltype(*mask.table)> table;
      Described::fill_all(table, folder_.file());
      mask.table = &table;
    }
  }

  const ladon::safetensors::Folder& folder_;
  const Recorded& recorded_;
  typename Stack::Weights weights_{};  // empty if the folder stores int8 weights
  std::vector<float> memory_;
};

template <class Described>
void check_stack(const ladon::safetensors::Folder& folder, const Recorded& recorded, Results& results) {
  StackCheck<Described> check(folder, recorded);
  constexpr Model m = Described::model;
  results.layers = std::max(results.layers, m.layers);
  results.scores = std::max(results.scores, m.score.scale * std::sqrt(static_cast<double>(m.shape().head_width)));
#ifdef LADON_STORED_INT8
  check.template run_stored<PrecisionKind::int8>(results.int8);
  return;
#endif
  check.run(results.float32);
  check.grow(results.grown);
#ifdef LADON_EVERY_PRECISION
  check.template run_reduced<PrecisionKind::bfloat16>(results.bfloat16);
  check.template run_reduced<PrecisionKind::rotated_int8>(results.int8);
#endif
  if (stores(folder.file(), "BF16")) check.template run_stored<PrecisionKind::bfloat16>(results.bfloat16);
}

}  // namespace families
