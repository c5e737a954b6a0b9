// SPDX-License-Identifier: Apache-2.0
// The masks of C kernels. For each value of the argument MASK of ladon_add_kernel except `none`, there is one struct,
// called an entry, with these members:
//     name                              the value of the argument; the struct itself has the same name
//     is_in(kind)                       whether the mask of a model (ladon::MaskKind) contains this mask
//     takes_offset                      whether the mask uses the option `offset`, which all masks of a kernel share
//     describe<S>(options)              adds the mask's options except `offset` to the list `options`, with the extents
//                                       for the shape S
//     convert(reader, options, data)    converts all options of the mask into the data of the C++ mask; `reader` is an
//                                       OptionsReader (options.hpp)
//
// A new mask of C kernels needs its C++ files in include/ladon, an entry in this file, which `Entries` lists, and its
// name in cmake/kernel/arguments.cmake. wasm/tools/mask-options.mjs reads the options from the text of this file, and
// makes TypeScript types.
#pragma once

#include <cstddef>
#include <string_view>
#include <tuple>
#include <utility>

#include <ladon/model.hpp>

#include "option_list.hpp"

namespace c_kernel::inline LADON_ABI {

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

// CMake writes the values of the argument MASK into NAME_definition.hpp as C++ names, so each entry has the name of its
// value.
// NOLINTBEGIN(readability-identifier-naming)
namespace mask {

struct causal : WithOffset {
  static constexpr std::string_view name = "causal";
  static constexpr bool is_in(const ladon::MaskKind& kind) { return kind.causal; }
};

struct window : WithOffset {
  static constexpr std::string_view name = "window";
  static constexpr bool is_in(const ladon::MaskKind& kind) {
    return kind.left != ladon::all || kind.right != ladon::all;
  }
};

struct padding : WithoutOptions {
  static constexpr std::string_view name = "padding";
  static constexpr bool is_in(const ladon::MaskKind& kind) { return kind.padding; }
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
  static constexpr bool is_in(const ladon::MaskKind& kind) { return kind.boolean; }
};
struct boolean_per_head : BooleanEntry<true> {
  static constexpr std::string_view name = "boolean_per_head";
  static constexpr bool is_in(const ladon::MaskKind& kind) { return kind.boolean_per_head; }
};

struct bits : WithoutOptions {
  static constexpr std::string_view name = "bits";
  static constexpr bool is_in(const ladon::MaskKind& kind) { return kind.bits; }
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
  static constexpr bool is_in(const ladon::MaskKind& kind) { return kind.additive; }
};
struct additive_per_head : AdditiveEntry<true> {
  static constexpr std::string_view name = "additive_per_head";
  static constexpr bool is_in(const ladon::MaskKind& kind) { return kind.additive_per_head; }
};

struct alibi : WithOffset {
  static constexpr std::string_view name = "alibi";
  static constexpr bool is_in(const ladon::MaskKind& kind) { return kind.alibi; }
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

struct relative : WithoutOptions {
  static constexpr std::string_view name = "relative";
  static constexpr bool is_in(const ladon::MaskKind& kind) { return kind.relative; }
  template <ladon::Shape S>
  static constexpr void describe(Options& options) {
    options.add({.name = "relative",
                 .type = float32_type,
                 .extents = {S.heads, ladon::mask::Relative::Data<S>::Table::row_size},
                 .axes = {"heads", "distances"},
                 .after = ": the table that NAME_relative_fill fills; required",
                 .required = true});
  }
  template <class Reader, class From, class Data>
  static void convert(const Reader& reader, const From& from, Data& to) {
    reader.relative_table(from.relative, to.table);
  }
};

// All entries, in the order in which ladon::MaskOf joins masks.
using Entries =
    std::tuple<causal, window, padding, boolean, boolean_per_head, bits, additive, additive_per_head, alibi, relative>;

}  // namespace mask
// NOLINTEND(readability-identifier-naming)

// The masks of a kernel, in the order of mask::Entries.
template <ladon::MaskKind K>
struct Masks {
  // Calls f(Entry{}) for each mask.
  template <class F>
  static constexpr void each(F f) {
    std::apply([&](auto... entry) { ((entry.is_in(K) ? f(entry) : void()), ...); }, mask::Entries{});
  }
  // Converts the options of those masks that are among the first `Count` entries into the data of the C++ mask. The
  // data of several masks have two members: `second` is the data of the last mask, and `first` is the data of the other
  // masks.
  template <std::size_t Count = std::tuple_size_v<mask::Entries>, class Reader, class From, class Data>
  static void convert(const Reader& reader, const From& from, Data& to) {
    if constexpr (Count > 0) {
      using Last = std::tuple_element_t<Count - 1, mask::Entries>;
      if constexpr (!Last::is_in(K)) {
        convert<Count - 1>(reader, from, to);
      } else if constexpr (any(std::make_index_sequence<Count - 1>{})) {
        convert<Count - 1>(reader, from, to.first);
        Last::convert(reader, from, to.second);
      } else {
        Last::convert(reader, from, to);
      }
    }
  }

 private:
  template <std::size_t... Entry>
  static constexpr bool any(std::index_sequence<Entry...>) {
    return (std::tuple_element_t<Entry, mask::Entries>::is_in(K) || ...);
  }
};

}  // namespace c_kernel::inline LADON_ABI
