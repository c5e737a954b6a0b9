// What the C functions of every kernel share: the weights and options of a call on the C++ side, checked, and where its
// attention goes. NAME.h comes before it.
#pragma once

#include <array>
#include <cstddef>
#include <tuple>

#include <ladon/ladon.hpp>

#include "check.hpp"
#include "options.hpp"
#include "weights.hpp"

namespace c_kernel {

// Kernel is the C++ type; W and O are NAME_weights and NAME_options. Settings says what Kernel does not:
//
//     Position         its position encoding's type
//     context          whether keys come from other tokens
//     stage            what options->attention is
//     epsilon          of the norms
//     cache_mark       a number of its own for each kernel and instruction set
template <class Kernel, class W, class O, class Settings>
struct Call {
  static constexpr ladon::Shape shape = Kernel::shape;
  static constexpr std::size_t layers = [] {
    if constexpr (requires { Kernel::Weights::layers; }) return std::tuple_size_v<decltype(Kernel::Weights::layers)>;
    return std::size_t(1);
  }();
  using Checked = Check<3 + layers>;  // y, workspace, cache; the attention of each layer
  using Position = typename Settings::Position;

  typename Kernel::Weights weights;
  typename Kernel::Options options;
  ladon::Lengths lengths;

  // The attention that is asked for. Before anything that is only read.
  static void attention(Checked& check, const O& from, std::size_t queries) {
    const std::size_t numbers = ((shape.heads - 1) * shape.queries + queries) * shape.keys;
    each_attention(from, [&](float* to) {
      if (to != nullptr) check.writes(to, numbers);
    });
  }

  // Lengths first: what else is checked depends on them.
  void take_lengths(Checked& check, const O& from) {
    lengths = lengths_of(from, shape);
    check.expect(lengths.queries <= shape.queries && lengths.keys <= shape.keys, LADON_LENGTH_BEYOND_SHAPE);
    options.queries = lengths.queries;
    options.keys = lengths.keys;
  }
  void take_options(Checked& check, const O& from) {
    const OptionsReader<shape, Checked> reader{check};
    reader.mask(from, options.mask);
    reader.score(from, options);
  }
  void take_weights(Checked& check, const W* from) {
    check.expect(from != nullptr, LADON_NULL_WEIGHTS);
    if (!check.ok()) return;
    check.reads(from, 1);
    WeightsReader<Checked>{check, Settings::epsilon}.all(*from, weights);
  }
  static void positions(Checked& check, const O& from, std::ptrdiff_t first, std::size_t count) {
    OptionsReader<shape, Checked>{check}.template positions<Position>(from, first, count);
  }

  // Calls f with where the attention goes: nothing, a map, a stage of the scores, or a stack's maps.
  template <class F>
  static void with_attention(const O& from, F f) {
    bool wanted = false;
    each_attention(from, [&](const float* to) { wanted = wanted || to != nullptr; });
    if constexpr (requires { from.attention; }) {
      if (wanted) return f(target(from.attention));
    }
    f();
  }

 private:
  template <class F>
  static void each_attention([[maybe_unused]] const O& from, [[maybe_unused]] F f) {
    if constexpr (requires { from.attention[0][0]; }) {
      for (float* const to : from.attention) f(to);
    } else if constexpr (requires { from.attention; }) {
      f(from.attention);
    }
  }
  static auto target(float* to) {
    if constexpr (Settings::stage == ladon::Stage::weights) {
      return ladon::AttentionMap<shape>(to);
    } else {
      return ladon::Capture<Settings::stage>{to};
    }
  }
  template <std::size_t Layers>
  static std::array<float*, Layers> target(float* const (&maps)[Layers]) {
    std::array<float*, Layers> to{};
    for (std::size_t i = 0; i < Layers; ++i) to[i] = maps[i];
    return to;
  }
};

// What every kernel's functions begin with.
template <class Kernel, class Settings, class W, class O>
struct Entry {
  using Prepared = Call<Kernel, W, O, Settings>;

  // The options of a call; a null pointer is none.
  static const O& given(const O* options) {
    static constexpr O none{};
    return options == nullptr ? none : *options;
  }

  template <class Table>
  static ladon_status rotary_fill(Table* table, double base, double scaling) {
    using Own = typename Prepared::Position::Table;
    // the header's struct has the members of ladon::RotaryTable
    static_assert(sizeof(Own) == sizeof(Table));
    if (table == nullptr) return LADON_NULL_OUTPUT;
    constexpr double most = 1e300, least = 1e-6;  // angles are counted in quarters, by 64 bits
    if (!(base >= 1 && base < most && scaling >= least && scaling < most)) return LADON_BAD_NUMBER;
    ladon::fill_rotary_table(*reinterpret_cast<Own*>(table), base, scaling);
    return LADON_OK;
  }
};

}  // namespace c_kernel
