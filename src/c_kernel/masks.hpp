// SPDX-License-Identifier: Apache-2.0
// The masks of C kernels. For each value of the argument MASK of ladon_add_kernel, there is one struct, called an
// entry, with these members:
//     name                              the value of the argument; the struct itself has the same name
//     Type<Arguments>                   the C++ type of the mask. `Arguments` has the constants of the arguments WINDOW
//                                       and OFFSET (MaskArguments in definition.hpp.in)
//     takes_offset                      whether the mask uses the option `offset`, which all masks of a kernel share
//     describe<S>(options)              adds the mask's options except `offset` to the list `options`, with the extents
//                                       for the shape S
//     convert(reader, options, data)    converts all options of the mask into the data of the C++ mask; `reader` is an
//                                       OptionsReader (options.hpp)
//
// A new mask of C kernels needs only its C++ files in include/ladon and an entry in this file. Two programs read this
// file as text: CMake reads the names and the base classes (ladon_kernel_mask_names in cmake/kernel/arguments.cmake),
// and wasm/tools/mask-options.mjs reads the options, from which it makes TypeScript types.
#pragma once

#include <cstddef>
#include <limits>
#include <string_view>
#include <type_traits>

#include <ladon/mask.hpp>
#include <ladon/shape.hpp>

#include "option_list.hpp"

namespace c_kernel {

// The value of Arguments::offset for a mask without a constant offset: the argument OFFSET is run_time or is not given.
inline constexpr std::ptrdiff_t no_fixed_offset = std::numeric_limits<std::ptrdiff_t>::min();

// The base class of mask structs without options.
struct WithoutOptions {
  static constexpr bool takes_offset = false;
  template <ladon::Shape S>
  static constexpr void describe(Options&) {}
  template <class Reader, class From, class Data>
  static void convert(const Reader&, const From&, Data&) {}
};
// The base class of mask structs that accept OFFSET run_time.
struct WithOffset : WithoutOptions {
  static constexpr bool takes_offset = true;
  template <class Reader, class From, class Data>
  static void convert(const Reader& reader, const From& from, Data& to) {
    reader.offset(from, to);
  }
};
// The base class of mask structs that accept OFFSET run_time and OFFSET <n>.
struct WithFixedOffset : WithOffset {};

// CMake writes the values of the argument MASK into NAME_definition.hpp as C++ names, so each entry has the name of its
// value.
// NOLINTBEGIN(readability-identifier-naming)
namespace mask {

struct none : WithoutOptions {
  static constexpr std::string_view name = "none";
  template <class>
  using Type = ladon::mask::None;
};

struct causal : WithFixedOffset {
  static constexpr std::string_view name = "causal";
  template <class Arguments>
  using Type = std::conditional_t<Arguments::offset == no_fixed_offset, ladon::mask::Causal,
                                  ladon::mask::CausalAt<Arguments::offset>>;
};

struct window : WithFixedOffset {
  static constexpr std::string_view name = "window";
  template <class Arguments>
  using Type = std::conditional_t<Arguments::offset == no_fixed_offset,
                                  ladon::mask::Window<Arguments::window[0], Arguments::window[1]>,
                                  ladon::mask::WindowAt<Arguments::window[0], Arguments::window[1], Arguments::offset>>;
};

struct padding : WithoutOptions {
  static constexpr std::string_view name = "padding";
  template <class>
  using Type = ladon::mask::Padding;
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

struct bits : WithoutOptions {
  static constexpr std::string_view name = "bits";
  template <class>
  using Type = ladon::mask::Bits;
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

// `pairs` and `pair_axes` describe an array with an element for each pair of a query and a key: `pairs` has the extents
// of the array, and `pair_axes` has the names of its axes. If PerHead is true, the array has one more axis, for the
// heads.
template <ladon::Shape S, bool PerHead>
inline constexpr Extents pairs = PerHead ? Extents{S.heads, S.queries, S.keys} : Extents{S.queries, S.keys};
template <bool PerHead>
inline constexpr Axes pair_axes = PerHead ? Axes{"heads", "queries", "keys"} : Axes{"queries", "keys"};
inline constexpr std::string_view columns_before = "number of columns; 0: all. Keys without a column are hidden";

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
struct boolean : BooleanEntry<false> {
  static constexpr std::string_view name = "boolean";
  template <class>
  using Type = ladon::mask::Boolean;
};
struct boolean_per_head : BooleanEntry<true> {
  static constexpr std::string_view name = "boolean_per_head";
  template <class>
  using Type = ladon::mask::BooleanPerHead;
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
struct additive : AdditiveEntry<false> {
  static constexpr std::string_view name = "additive";
  template <class>
  using Type = ladon::mask::Additive;
};
struct additive_per_head : AdditiveEntry<true> {
  static constexpr std::string_view name = "additive_per_head";
  template <class>
  using Type = ladon::mask::AdditivePerHead;
};

struct alibi : WithOffset {
  static constexpr std::string_view name = "alibi";
  template <class>
  using Type = ladon::mask::Alibi;
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

}  // namespace mask
// NOLINTEND(readability-identifier-naming)

// The masks of a kernel. With the mask structs a, b and c, for example, `Type` is the C++ type of the mask a & (b & c).
template <class Arguments, class... Entry>
struct Masks {
  using Type = decltype((typename Entry::template Type<Arguments>{} & ...));

  // Calls f(Entry{}) for each mask except `none`.
  template <class F>
  static constexpr void each(F f) {
    ((Entry::name != "none" ? f(Entry{}) : void()), ...);
  }
  // Converts the options of all masks into the data of the C++ mask. The data of a combination a & b have two members:
  // `first` is the data of mask a, and `second` is the data of mask b.
  template <class Reader, class From, class Data>
  static void convert(const Reader& reader, const From& from, Data& to) {
    convert_from<Entry...>(reader, from, to);
  }

 private:
  template <class First, class... Rest, class Reader, class From, class Data>
  static void convert_from(const Reader& reader, const From& from, Data& to) {
    if constexpr (sizeof...(Rest) == 0) {
      First::convert(reader, from, to);
    } else {
      First::convert(reader, from, to.first);
      convert_from<Rest...>(reader, from, to.second);
    }
  }
};

}  // namespace c_kernel
