// The masks of C kernels: one MaskEntry for each C++ mask type. An entry has
//
//     name                              the value of the argument MASK of ladon_add_kernel
//     takes_offset                      whether the mask uses the option `offset`, which all masks of a kernel share
//     describe<S>(options)              adds the other options of the mask for the shape S
//     convert(reader, options, data)    converts all options of the mask into the data of the C++ mask; `reader` is an
//                                       OptionsReader (options.hpp)
//
// An entry is all that a mask needs beside its C++ files. Two programs read this file as text: CMake reads the names
// and `: WithOffset` (ladon_kernel_mask_names in cmake/kernel/arguments.cmake), and wasm/tools/mask-options.mjs reads
// the options, for the types of TypeScript. The name boolean_per_head stands for the C++ type
// ladon::mask::BooleanPerHead.
#pragma once

#include <cstddef>
#include <string_view>

#include <ladon/mask.hpp>
#include <ladon/shape.hpp>

#include "option_list.hpp"

namespace c_kernel {

template <class Mask>
struct MaskEntry {
  static_assert(sizeof(Mask) == 0, "ladon: this mask has no entry in src/c_kernel/masks.hpp");
};

// The base of an entry without options.
struct WithoutOptions {
  static constexpr bool takes_offset = false;
  template <ladon::Shape S>
  static constexpr void describe(Options&) {}
  template <class Reader, class From, class Data>
  static void convert(const Reader&, const From&, Data&) {}
};
// The base of an entry that takes the option `offset`.
struct WithOffset : WithoutOptions {
  static constexpr bool takes_offset = true;
  template <class Reader, class From, class Data>
  static void convert(const Reader& reader, const From& from, Data& to) {
    reader.offset(from, to.offset);
  }
};

template <>
struct MaskEntry<ladon::mask::None> : WithoutOptions {
  static constexpr std::string_view name = "none";
};

template <>
struct MaskEntry<ladon::mask::Causal> : WithOffset {
  static constexpr std::string_view name = "causal";
};
template <std::ptrdiff_t Offset>
struct MaskEntry<ladon::mask::CausalAt<Offset>> : WithoutOptions {
  static constexpr std::string_view name = "causal";
};

template <std::size_t Left, std::size_t Right>
struct MaskEntry<ladon::mask::Window<Left, Right>> : WithOffset {
  static constexpr std::string_view name = "window";
};
template <std::size_t Left, std::size_t Right, std::ptrdiff_t Offset>
struct MaskEntry<ladon::mask::WindowAt<Left, Right, Offset>> : WithoutOptions {
  static constexpr std::string_view name = "window";
};

template <>
struct MaskEntry<ladon::mask::Padding> : WithoutOptions {
  static constexpr std::string_view name = "padding";
  template <ladon::Shape S>
  static constexpr void describe(Options& options) {
    options.add({.name = "padding",
                 .type = uint8_type,
                 .extents = {S.keys},
                 .axes = {"keys"},
                 .after = ": 0 hides a key; NULL hides none"});
  }
  template <class Reader, class From, class Data>
  static void convert(const Reader& reader, const From& from, Data& to) {
    reader.array(from.padding, to.may_see);
  }
};

template <>
struct MaskEntry<ladon::mask::Bits> : WithoutOptions {
  static constexpr std::string_view name = "bits";
  template <ladon::Shape S>
  static constexpr void describe(Options& options) {
    options.add({.name = "bits",
                 .type = uint32_type,
                 .extents = {S.queries, (S.keys + 31) / 32},
                 .axes = {"queries", "ceil(keys / 32)"},
                 .after = ": bit k % 32 of word k / 32 shows key k to a query; NULL hides none"});
  }
  template <class Reader, class From, class Data>
  static void convert(const Reader& reader, const From& from, Data& to) {
    reader.array(from.bits, to.bits);
  }
};

// The extents and the axes of an array with an element for each pair of a query and a key.
template <ladon::Shape S, bool PerHead>
inline constexpr Extents pairs = PerHead ? Extents{S.heads, S.queries, S.keys} : Extents{S.queries, S.keys};
template <bool PerHead>
inline constexpr Axes pair_axes = PerHead ? Axes{"heads", "queries", "keys"} : Axes{"queries", "keys"};
inline constexpr std::string_view columns_before = "number of columns; 0: @keys@. Keys without a column are hidden";

template <bool PerHead>
struct BooleanEntry : WithoutOptions {
  template <ladon::Shape S>
  static constexpr void describe(Options& options) {
    options.add({.name = "boolean",
                 .type = uint8_type,
                 .extents = pairs<S, PerHead>,
                 .axes = pair_axes<PerHead>,
                 .after = ": 0 hides a key from a query; NULL hides none"});
    options.add({.name = "boolean_keys", .type = size_type, .before = columns_before, .of = "boolean"});
  }
  template <class Reader, class From, class Data>
  static void convert(const Reader& reader, const From& from, Data& to) {
    reader.pairs(from.boolean, from.boolean_keys, to.may_see, to.keys);
  }
};
template <>
struct MaskEntry<ladon::mask::Boolean> : BooleanEntry<false> {
  static constexpr std::string_view name = "boolean";
};
template <>
struct MaskEntry<ladon::mask::BooleanPerHead> : BooleanEntry<true> {
  static constexpr std::string_view name = "boolean_per_head";
};

template <bool PerHead>
struct AdditiveEntry : WithoutOptions {
  template <ladon::Shape S>
  static constexpr void describe(Options& options) {
    options.add({.name = "additive",
                 .type = float32_type,
                 .extents = pairs<S, PerHead>,
                 .axes = pair_axes<PerHead>,
                 .after = ": added to each score, -INFINITY hides a key; NULL adds nothing"});
    options.add({.name = "additive_keys", .type = size_type, .before = columns_before, .of = "additive"});
  }
  template <class Reader, class From, class Data>
  static void convert(const Reader& reader, const From& from, Data& to) {
    reader.pairs(from.additive, from.additive_keys, to.values, to.keys);
  }
};
template <>
struct MaskEntry<ladon::mask::Additive> : AdditiveEntry<false> {
  static constexpr std::string_view name = "additive";
};
template <>
struct MaskEntry<ladon::mask::AdditivePerHead> : AdditiveEntry<true> {
  static constexpr std::string_view name = "additive_per_head";
};

template <>
struct MaskEntry<ladon::mask::Alibi> : WithOffset {
  static constexpr std::string_view name = "alibi";
  template <ladon::Shape S>
  static constexpr void describe(Options& options) {
    options.add({.name = "slopes",
                 .type = float32_type,
                 .extents = {S.heads},
                 .axes = {"heads"},
                 .after = "; NULL stands for the slopes of the paper, arXiv 2108.12409"});
  }
  template <class Reader, class From, class Data>
  static void convert(const Reader& reader, const From& from, Data& to) {
    reader.array(from.slopes, to.slopes);
    WithOffset::convert(reader, from, to);
  }
};

// Converts the options of a combination of masks. `first` and `second` are the data of the two masks.
template <class A, class B>
struct MaskEntry<ladon::mask::Both<A, B>> {
  template <class Reader, class From, class Data>
  static void convert(const Reader& reader, const From& from, Data& to) {
    MaskEntry<A>::convert(reader, from, to.first);
    MaskEntry<B>::convert(reader, from, to.second);
  }
};

// each(f) calls f(MaskEntry<M>{}) for each mask M that `Mask` combines. `None` is not a mask here.
template <class Mask>
struct Masks {
  template <class F>
  static constexpr void each(F f) {
    if constexpr (MaskEntry<Mask>::name != "none") f(MaskEntry<Mask>{});
  }
};
template <class A, class B>
struct Masks<ladon::mask::Both<A, B>> {
  template <class F>
  static constexpr void each(F f) {
    Masks<A>::each(f);
    Masks<B>::each(f);
  }
};

}  // namespace c_kernel
