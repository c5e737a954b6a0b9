// SPDX-License-Identifier: Apache-2.0
// Defines the classes that the C functions of every kernel share. `Call` checks the arguments of a C call and converts
// weights and options into C++ objects. `Entry` is the base class of the classes that implement the C functions. NAME.h
// must be included before this file.
#pragma once

#include <array>
#include <cstddef>
#include <type_traits>

#include <ladon/ladon.hpp>

#include "check.hpp"
#include "options.hpp"
#include "quantise_weights.hpp"
#include "rotary_scaling.hpp"
#include "tensors.hpp"
#include "weights.hpp"

namespace c_kernel::inline LADON_ABI {

// The weights, options and lengths of one C call. `Kernel` is the C++ type of the kernel. `W` and `O` are the C structs
// NAME_weights and NAME_options. `Settings` (definition.hpp.in) has the properties of the kernel that cannot be read
// from the type `Kernel`. Settings::cache_mark is a number that identifies the kernel and the instruction set of this
// code.
template <class Kernel, class W, class O, class Settings>
struct Call {
  static constexpr ladon::Shape shape = Kernel::shape;
  static constexpr std::size_t layers = Structure<typename Kernel::Weights>::layers;
  static constexpr bool has_memory = Settings::memory > 0;
  // A call writes at most the following regions of memory: `y`, the workspace, the cache, and the arrays for attention
  // weights. options->attention has one array for each layer of a stack. For any other kernel, options->attention is
  // one array or does not exist. A decoder's options->memory.attention has the same number of arrays as
  // options->attention.
  using Checked = Check<3 + (layers > 0 ? layers : 1) * (has_memory ? 2 : 1)>;
  using Reader = OptionsReader<shape, Settings, Checked>;

  typename Kernel::Weights weights;
  typename Kernel::Options options;
  ladon::Lengths lengths;
  std::size_t memory_keys = 0;  // number of active tokens of a decoder's memory

  // Registers the arrays of options->attention and options->memory.attention as memory that the call writes. Must be
  // called before check.reads and check.reads_x, which search for overlaps with the registered memory. In a stack,
  // every layer before the last layer may write more than options->queries rows. The function therefore registers the
  // whole size that NAME.h declares for each array.
  static void attention(Checked& check, const O& from) {
    each_attention(from, [&](float* to, std::size_t keys) {
      if (to != nullptr) check.writes(to, shape.heads * shape.queries * keys);
    });
  }

  // Takes the lengths from the options, and checks that the lengths are within the shape. Must be called before
  // check.writes, check.reads and check.reads_x, because the sizes that these functions check depend on the lengths.
  void take_lengths(Checked& check, const O& from) {
    lengths = lengths_of<Settings>(from, shape);
    check.expect(lengths.queries <= shape.queries && lengths.keys <= shape.keys, LADON_LENGTH_BEYOND_SHAPE);
    own_options().queries = lengths.queries;
    own_options().keys = lengths.keys;
    if constexpr (has_memory) {
      const std::size_t keys = from.memory.keys;
      memory_keys = keys == 0 ? Settings::memory : keys == LADON_NONE ? 0 : keys;
      check.expect(memory_keys <= Settings::memory, LADON_LENGTH_BEYOND_SHAPE);
      options.memory.keys = memory_keys;
    }
  }
  void take_options(Checked& check, const O& from) {
    const Reader reader{check};
    reader.mask(from, own_options().mask);
    reader.score(from, own_options());
    if constexpr (has_memory) {
      constexpr ladon::Shape cross = ladon::memory_shape<shape, Settings::memory>();
      const OptionsReader<cross, MemorySettings<Settings>, Checked> of_memory{check};
      of_memory.mask(from.memory, options.memory.mask);
      of_memory.score(from.memory, options.memory);
    }
  }
  // Returns the position of query 0 among the keys, for calls that do not extend a cache.
  static constexpr std::ptrdiff_t bottom_right() {
    return static_cast<std::ptrdiff_t>(shape.keys) - static_cast<std::ptrdiff_t>(shape.queries);
  }
  void take_weights(Checked& check, const W* from) {
    check.expect(from != nullptr, LADON_NULL_WEIGHTS);
    if (!check.ok()) return;
    check.reads(from, 1);
    WeightsReader<Checked, Settings::model>{check, Settings::epsilon}.all(*from, weights);
  }
  // Checks that the rotary table of the options has an entry for each position from `first` to `first` + `count` - 1,
  // after options->rotary_offset is added to each position.
  static void positions(Checked& check, const O& from, std::ptrdiff_t first, std::size_t count) {
    Reader{check}.positions(from, first, count);
  }

  // Calls `f` with an object that holds the pointers to the arrays for attention weights or scores. The pointers come
  // from the options. If the kernel is not a stack, the type of the object depends on Settings::stage:
  //     kernel                          stage `weights`   any other stage
  //     attention or an encoder layer   AttentionMap      Capture<Settings::stage>
  //     a decoder layer                 DecoderMaps       DecoderCaptures<Settings::stage>
  //
  // For a stack, `f` gets a std::array with one element for each layer. The elements have the type that the table names
  // for one layer. For a stack of encoder layers with the stage `weights`, the elements are pointers (float*) instead.
  // `f` gets no argument if the kernel has no option `attention`. Nothing is written for a null pointer.
  template <class F>
  static void with_attention([[maybe_unused]] const O& from, F f) {
    if constexpr (Settings::capture) {
      f(target(from));
    } else {
      f();
    }
  }

 private:
  // Returns the options of self-attention: the member `self` of a decoder's options, or the whole options of any other
  // kernel.
  auto& own_options() {
    if constexpr (has_memory) {
      return options.self;
    } else {
      return options;
    }
  }

  // Calls `f` with each pointer of options->attention and, for a decoder, of options->memory.attention. The second
  // argument of `f` is the number of keys in a row of the array.
  template <class F>
  static void each_attention([[maybe_unused]] const O& from, [[maybe_unused]] F f) {
    if constexpr (Settings::capture) {
      each_pointer(from.attention, shape.keys, f);
      if constexpr (has_memory) each_pointer(from.memory.attention, Settings::memory, f);
    }
  }
  template <class F>
  static void each_pointer(float* to, std::size_t keys, F f) {
    f(to, keys);
  }
  template <std::size_t Layers, class F>
  static void each_pointer(float* const (&maps)[Layers], std::size_t keys, F f) {
    for (float* const to : maps) f(to, keys);
  }

  static auto target(const O& from) {
    if constexpr (has_memory && layers > 0) {
      std::array<DecoderTarget, layers> to{};
      for (std::size_t i = 0; i < layers; ++i) to[i] = {{from.attention[i]}, {from.memory.attention[i]}};
      return to;
    } else if constexpr (has_memory) {
      return DecoderTarget{{from.attention}, {from.memory.attention}};
    } else if constexpr (layers > 0) {
      std::array<LayerTarget, layers> to{};
      for (std::size_t i = 0; i < layers; ++i) to[i] = {from.attention[i]};
      return to;
    } else if constexpr (Settings::stage == ladon::Stage::weights) {
      return ladon::AttentionMap<shape>(from.attention);
    } else {
      return ladon::Capture<Settings::stage>{from.attention};
    }
  }
  // The objects that with_attention passes to `f`: an array of LayerTarget for a stack of encoder layers, an array of
  // DecoderTarget for a stack of decoder layers, and one DecoderTarget for a single decoder layer.
  using LayerTarget =
      std::conditional_t<Settings::stage == ladon::Stage::weights, float*, ladon::Capture<Settings::stage>>;
  using DecoderTarget = std::conditional_t<Settings::stage == ladon::Stage::weights, ladon::DecoderMaps,
                                           ladon::DecoderCaptures<Settings::stage>>;
};

// The base class of RunEntry, GivenEntry and CacheEntry. AttendEntry and ExtendEntry are derived from CacheEntry.
template <class Kernel, class Settings, class W, class O>
struct Entry {
  using Prepared = Call<Kernel, W, O, Settings>;

  template <class F>
  static ladon_status quantise(const F* from, W* to, void* memory) {
    constexpr std::size_t bytes = quantised_bytes<typename Kernel::Weights>();
    return quantise_weights<typename Settings::FloatWeights, Settings::model>(from, to, memory, bytes);
  }

  // Returns whether the arguments of a call for several threads are valid: `phase` is below the kernel's number of
  // phases, `share` is below `shares`, and `shares` is at most 65,536. The limit prevents an overflow of the size of
  // the workspace. With ARGUMENT_CHECKS OFF, always returns true.
  static constexpr bool has_share(std::size_t phase, std::size_t share, std::size_t shares) {
    constexpr std::size_t most_shares = 1 << 16;
    return !LADON_ARGUMENT_CHECKS || (phase < Kernel::phases && share < shares && shares <= most_shares);
  }

  // Returns the options of a call. A null pointer stands for default options.
  static const O& given(const O* options) {
    static constexpr O none{};
    return options == nullptr ? none : *options;
  }

  template <class Table>
  static ladon_status rotary_scale(Table* table, const ladon_rotary_scaling* from) {
    using Own = typename Settings::Position::Table;
    if (table == nullptr) return LADON_NULL_OUTPUT;
    if (from == nullptr) return LADON_NULL_INPUT;
    const ladon::RotaryScaling scaling = with_defaults(*from);
    if (!is_sound(scaling, Settings::Position::width / 2)) return LADON_BAD_NUMBER;
    ladon::fill_rotary_table(*reinterpret_cast<Own*>(table), scaling);
    return LADON_OK;
  }

  static ladon_status relative_fill(float* table, const float* bias, std::size_t buckets, int causal,
                                    std::size_t max_distance) {
    using Table = typename ladon::mask::Relative::template Data<Kernel::shape>::Table;
    if (table == nullptr) return LADON_NULL_OUTPUT;
    if (bias == nullptr) return LADON_NULL_INPUT;
    const std::size_t exact = buckets / (causal != 0 ? 2 : 4);
    if (exact == 0 || max_distance <= exact) return LADON_BAD_NUMBER;
    ladon::fill_relative_table(*reinterpret_cast<Table*>(table), bias,
                               {.count = buckets, .causal = causal != 0, .max_distance = max_distance});
    return LADON_OK;
  }

  template <class Table>
  static ladon_status rotary_fill(Table* table, double base, double scaling) {
    using Own = typename Settings::Position::Table;
    // The reinterpret_cast of `table` is valid, because the table's struct in NAME.h has the same members as
    // ladon::RotaryTable.
    static_assert(sizeof(Own) == sizeof(Table));
    if (table == nullptr) return LADON_NULL_OUTPUT;
    // `base` must be below `most`, so that powers of `base` are finite doubles. `scaling` must be at least `least`, so
    // that a 64-bit integer can hold the number of quarter turns in the angle position / scaling.
    constexpr double most = 1e300, least = 1e-6;
    if (!(base >= 1 && base < most && scaling >= least && scaling < most)) return LADON_BAD_NUMBER;
    ladon::fill_rotary_table(*reinterpret_cast<Own*>(table), base, scaling);
    return LADON_OK;
  }
};

}  // namespace c_kernel::inline LADON_ABI
