// SPDX-License-Identifier: Apache-2.0
// The parts that the C functions of every kernel share: `Call` checks the arguments of a C call and converts weights
// and options into C++ objects. `Entry` is the base class of the classes that implement the C functions. NAME.h must be
// included before this file.
#pragma once

#include <array>
#include <cstddef>

#include <ladon/ladon.hpp>

#include "check.hpp"
#include "options.hpp"
#include "quantise_weights.hpp"
#include "tensors.hpp"
#include "weights.hpp"

namespace c_kernel {

// The weights, options and lengths of one C call. `Kernel` is the C++ type of the kernel. `W` and `O` are NAME_weights
// and NAME_options. `Settings` has the properties that `Kernel` does not have (definition.hpp.in), and the number
// `cache_mark`, which identifies the kernel and the instruction set that the code is compiled for.
template <class Kernel, class W, class O, class Settings>
struct Call {
  static constexpr ladon::Shape shape = Kernel::shape;
  static constexpr std::size_t layers = Structure<typename Kernel::Weights>::layers;
  // A call writes at most the following pieces of memory: `y`, the workspace, the cache, and the arrays of
  // options->attention. A stack has one such array for each layer. Other kernels have at most one such array.
  using Checked = Check<3 + (layers > 0 ? layers : 1)>;
  using Reader = OptionsReader<shape, Settings, Checked>;

  typename Kernel::Weights weights;
  typename Kernel::Options options;
  ladon::Lengths lengths;

  // Registers the arrays of options->attention as memory that the call writes. Must be called before the first call of
  // check.reads or check.reads_x. Each array is registered in full, as NAME.h declares the array, because the layers
  // before the last layer of a stack may write the rows of more queries than options->queries.
  static void attention(Checked& check, const O& from) {
    each_attention(from, [&](float* to) {
      if (to != nullptr) check.writes(to, shape.heads * shape.queries * shape.keys);
    });
  }

  // Takes the lengths from the options, and checks that the lengths are within the shape. Must be called before
  // check.writes, check.reads and check.reads_x, because the sizes that these functions check depend on the lengths.
  void take_lengths(Checked& check, const O& from) {
    lengths = lengths_of<Settings>(from, shape);
    check.expect(lengths.queries <= shape.queries && lengths.keys <= shape.keys, LADON_LENGTH_BEYOND_SHAPE);
    options.queries = lengths.queries;
    options.keys = lengths.keys;
  }
  void take_options(Checked& check, const O& from) {
    const Reader reader{check};
    reader.mask(from, options.mask);
    reader.score(from, options);
  }
  void take_weights(Checked& check, const W* from) {
    check.expect(from != nullptr, LADON_NULL_WEIGHTS);
    if (!check.ok()) return;
    check.reads(from, 1);
    WeightsReader<Checked>{check, Settings::epsilon}.all(*from, weights);
  }
  // Checks that the rotary table has the positions `first` to `first` + `count` - 1, after options->rotary_offset is
  // added to each position.
  static void positions(Checked& check, const O& from, std::ptrdiff_t first, std::size_t count) {
    Reader{check}.positions(from, first, count);
  }

  // Calls `f` with an object that says where the kernel writes the attention weights or scores that the C program
  // requested. The type of the object depends on options->attention:
  //
  //     an array with one pointer for each layer       std::array of these pointers
  //     one pointer, Settings::stage is `weights`      AttentionMap
  //     one pointer, Settings::stage is not `weights`  Capture<Settings::stage>
  //
  // If options->attention does not exist or has only null pointers, calls `f` without an argument.
  template <class F>
  static void with_attention(const O& from, F f) {
    bool wanted = false;
    each_attention(from, [&](const float* to) { wanted = wanted || to != nullptr; });
    if constexpr (Settings::capture) {
      if (wanted) return f(target(from.attention));
    }
    f();
  }

 private:
  // Calls `f` with each pointer of options->attention: one pointer, or one pointer for each layer of a stack.
  template <class F>
  static void each_attention([[maybe_unused]] const O& from, [[maybe_unused]] F f) {
    if constexpr (Settings::capture && layers > 0) {
      for (float* const to : from.attention) f(to);
    } else if constexpr (Settings::capture) {
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

// The base class of RunEntry and CacheEntry. AttendEntry and ExtendEntry are derived from CacheEntry.
template <class Kernel, class Settings, class W, class O>
struct Entry {
  using Prepared = Call<Kernel, W, O, Settings>;

  template <class F>
  static ladon_status quantise(const F* from, W* to, void* memory) {
    constexpr std::size_t bytes = quantised_bytes<typename Kernel::Weights>();
    return quantise_weights<typename Settings::FloatWeights, Settings::rotated>(from, to, memory, bytes);
  }

  // Returns the options of a call. A null pointer stands for default options.
  static const O& given(const O* options) {
    static constexpr O none{};
    return options == nullptr ? none : *options;
  }

  template <class Table>
  static ladon_status rotary_fill(Table* table, double base, double scaling) {
    using Own = typename Settings::Position::Table;
    // The reinterpret_cast below is valid, because the struct in NAME.h has the same members as ladon::RotaryTable.
    static_assert(sizeof(Own) == sizeof(Table));
    if (table == nullptr) return LADON_NULL_OUTPUT;
    // `most` keeps the powers of `base` within the range of double. `least` limits the angle position / scaling, so
    // that a 64-bit integer holds the number of quarter turns in the angle.
    constexpr double most = 1e300, least = 1e-6;
    if (!(base >= 1 && base < most && scaling >= least && scaling < most)) return LADON_BAD_NUMBER;
    ladon::fill_rotary_table(*reinterpret_cast<Own*>(table), base, scaling);
    return LADON_OK;
  }
};

}  // namespace c_kernel
