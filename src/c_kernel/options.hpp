// SPDX-License-Identifier: Apache-2.0
// Converts NAME_options into the C++ options of the kernel. The members of both types depend on the kernel's mask,
// score and position encoding. describe_options.hpp lists the members of NAME_options.
#pragma once

#include <cstddef>

#include <ladon/ladon.hpp>

#include "describe_options.hpp"

namespace c_kernel::inline LADON_ABI {

// Returns the lengths of a call. In the options, 0 stands for the default length, and LADON_NONE stands for the length
// 0. The default of `queries` and `keys` is `tokens`. The default of `tokens` is the length in the shape.
template <class Settings, class From>
ladon::Lengths lengths_of(const From& from, const ladon::Shape& shape) {
  const auto pick = [](std::size_t own, std::size_t tokens, std::size_t all) {
    const std::size_t chosen = own != 0 ? own : tokens != 0 ? tokens : all;
    return chosen == LADON_NONE ? 0 : chosen;
  };
  std::size_t tokens = 0, queries = 0, keys = 0;
  if constexpr (has_tokens<Settings>) tokens = from.tokens;
  if constexpr (has_queries_and_keys<Settings>) {
    queries = from.queries;
    keys = from.keys;
  }
  return {pick(queries, tokens, shape.queries), pick(keys, tokens, shape.keys)};
}

// Converts the options of masks, scores and position encodings. OptionsReader checks that lengths are within the shape
// and that required pointers are not null. OptionsReader also checks that read memory does not overlap with written
// memory. call.hpp describes `Settings`.
template <ladon::Shape S, class Settings, class Checked>
struct OptionsReader {
  Checked& check;

  template <class From, class Data>
  void mask(const From& from, Data& to) const {
    Settings::Masks::convert(*this, from, to);
  }

  template <class From, class To>
  void score(const From& from, To& to) const {
    if constexpr (Settings::model.score.sinks) {
      check.expect(from.sinks != nullptr, LADON_NULL_OPTION);
      array(from.sinks, to.sinks);
    }
    if constexpr (Settings::Position::rotates) {
      constexpr auto kinds = Settings::model.kinds;
      if constexpr (kinds.count == 0) {
        rotary_table(from.rotary, to.position.table);
      } else {
        for (std::size_t kind = 0; kind < kinds.count; ++kind) {
          if (!kinds.items[kind].unrotated) rotary_table(from.rotary[kind], to.position.table[kind]);
        }
      }
      to.position.offset = from.rotary_offset;
    }
  }

  // The reinterpret_cast is valid, because the table's struct in NAME.h has the same members as ladon::RotaryTable, and
  // a kernel only reads the table.
  template <class FromTable, class Table>
  void rotary_table(const FromTable* from, const Table*& to) const {
    static_assert(sizeof(FromTable) == sizeof(Table));
    check.expect(from != nullptr, LADON_NULL_OPTION);
    check.reads(from, 1);
    to = reinterpret_cast<const Table*>(from);
  }

  // The reinterpret_cast is valid, because the table has only floats, and a kernel only reads the table.
  template <class Table>
  void relative_table(const float* from, const Table*& to) const {
    check.expect(from != nullptr, LADON_NULL_OPTION);
    check.reads(from, sizeof(Table) / sizeof(float));
    to = reinterpret_cast<const Table*>(from);
  }

  // Checks the `count` positions from `first` on: each position plus from.rotary_offset must have an entry in the
  // rotary table.
  template <class From>
  void positions(const From& from, std::ptrdiff_t first, std::size_t count) const {
    if constexpr (Settings::Position::rotates) {
      if (count == 0) return;
      const std::size_t room = Settings::Position::positions;
      const std::size_t before = from.rotary_offset;
      check.expect(before <= room && count <= room - before, LADON_LENGTH_BEYOND_SHAPE);
      if (!check.ok()) return;
      const std::ptrdiff_t begin = first + static_cast<std::ptrdiff_t>(before);
      check.expect(begin >= 0 && begin <= static_cast<std::ptrdiff_t>(room - count), LADON_LENGTH_BEYOND_SHAPE);
    }
  }

  // The mask structs in masks.hpp call the following functions to convert the options of a mask.

  // Makes `to` a view of the array at `from`, and checks that the array does not overlap with memory that the call
  // writes.
  template <class T, class Tensor>
  void array(const T* from, Tensor& to) const {
    check.reads(from, Tensor::size);
    to = Tensor(from);
  }
  // Converts and checks an array with an element for each pair of a query and a key. Sets `keys` to the number of keys
  // in a row of the array. `columns` is the option that states this number: 0 stands for all keys of the shape, and
  // LADON_NONE stands for no keys.
  template <class T, class Tensor>
  void pairs(const T* from, std::size_t columns, Tensor& to, std::size_t& keys) const {
    const std::size_t count = columns == 0 ? S.keys : columns == LADON_NONE ? 0 : columns;
    check.expect(count <= S.keys, LADON_LENGTH_BEYOND_SHAPE);
    check.reads(from, Tensor::size / S.keys * count);
    to = Tensor(from);
    keys = count;
  }
  // Converts the offset of a mask, if the kernel has the option `offset` (OFFSET run_time).
  template <class From, class Data>
  void offset(const From& from, Data& to) const {
    if constexpr (Settings::offset) to.offset = from.offset;
  }
};

}  // namespace c_kernel::inline LADON_ABI
