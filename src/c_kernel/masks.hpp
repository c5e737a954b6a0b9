// The masks of C kernels: one MaskEntry for each C++ mask type. An entry has
//
//     name                              the value of the argument MASK of ladon_add_kernel
//     describe<S>(options)              adds the options of the mask for the shape S
//     convert(reader, options, data)    converts these options into the data of the C++ mask; `reader` is an
//                                       OptionsReader (options.hpp)
//
// CMake reads the names from this file (ladon_kernel_mask_names in cmake/kernel/arguments.cmake). The name
// boolean_per_head stands for the C++ type ladon::mask::BooleanPerHead.
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
  template <ladon::Shape S>
  static constexpr void describe(Options&) {}
  template <class Reader, class From, class Data>
  static void convert(const Reader&, const From&, Data&) {}
};
// The base of an entry whose only option is `offset`. All masks of a kernel share this option, so describe_options.hpp
// describes the option.
struct WithOffset : WithoutOptions {
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
struct MaskEntry<ladon::mask::Padding> {
  static constexpr std::string_view name = "padding";
  template <ladon::Shape S>
  static constexpr void describe(Options& options) {
    options.add(
        {.name = "padding", .type = uint8_type, .extents = {S.keys}, .after = ": 0 hides a key; NULL hides none"});
  }
  template <class Reader, class From, class Data>
  static void convert(const Reader& reader, const From& from, Data& to) {
    reader.array(from.padding, to.may_see);
  }
};

template <>
struct MaskEntry<ladon::mask::Bits> {
  static constexpr std::string_view name = "bits";
  template <ladon::Shape S>
  static constexpr void describe(Options& options) {
    options.add({.name = "bits",
                 .type = uint32_type,
                 .extents = {S.queries, (S.keys + 31) / 32},
                 .after = ": bit k % 32 of word k / 32 shows key k to a query; NULL hides none"});
  }
  template <class Reader, class From, class Data>
  static void convert(const Reader& reader, const From& from, Data& to) {
    reader.array(from.bits, to.bits);
  }
};

// The extents of an array with an element for each pair of a query and a key.
template <ladon::Shape S, bool PerHead>
inline constexpr Extents pairs = PerHead ? Extents{S.heads, S.queries, S.keys} : Extents{S.queries, S.keys};
inline constexpr std::string_view columns_before = "number of columns; 0: @keys@. Keys without a column are hidden";

template <bool PerHead>
struct BooleanEntry {
  template <ladon::Shape S>
  static constexpr void describe(Options& options) {
    options.add({.name = "boolean",
                 .type = uint8_type,
                 .extents = pairs<S, PerHead>,
                 .after = ": 0 hides a key from a query; NULL hides none"});
    options.add({.name = "boolean_keys", .type = size_type, .before = columns_before});
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
struct AdditiveEntry {
  template <ladon::Shape S>
  static constexpr void describe(Options& options) {
    options.add({.name = "additive",
                 .type = float32_type,
                 .extents = pairs<S, PerHead>,
                 .after = ": added to each score, -INFINITY hides a key; NULL adds nothing"});
    options.add({.name = "additive_keys", .type = size_type, .before = columns_before});
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
struct MaskEntry<ladon::mask::Alibi> {
  static constexpr std::string_view name = "alibi";
  template <ladon::Shape S>
  static constexpr void describe(Options& options) {
    options.add({.name = "slopes",
                 .type = float32_type,
                 .extents = {S.heads},
                 .after = "; NULL stands for the slopes of the paper, arXiv 2108.12409"});
  }
  template <class Reader, class From, class Data>
  static void convert(const Reader& reader, const From& from, Data& to) {
    reader.array(from.slopes, to.slopes);
    reader.offset(from, to.offset);
  }
};

// The combination of two masks has the options of both. `first` and `second` are the data of the two masks.
template <class A, class B>
struct MaskEntry<ladon::mask::Both<A, B>> {
  template <ladon::Shape S>
  static constexpr void describe(Options& options) {
    MaskEntry<A>::template describe<S>(options);
    MaskEntry<B>::template describe<S>(options);
  }
  template <class Reader, class From, class Data>
  static void convert(const Reader& reader, const From& from, Data& to) {
    MaskEntry<A>::convert(reader, from, to.first);
    MaskEntry<B>::convert(reader, from, to.second);
  }
};

// Calls f(name) with the name of each mask that `Mask` combines. `None` is not a mask here.
template <class Mask>
struct MaskNames {
  template <class F>
  static constexpr void each(F f) {
    if (MaskEntry<Mask>::name != "none") f(MaskEntry<Mask>::name);
  }
};
template <class A, class B>
struct MaskNames<ladon::mask::Both<A, B>> {
  template <class F>
  static constexpr void each(F f) {
    MaskNames<A>::each(f);
    MaskNames<B>::each(f);
  }
};

}  // namespace c_kernel
