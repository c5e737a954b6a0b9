// A kernel's NAME_options as the C++ options that the library takes. Which members there are depends on its mask,
// its score and its position encoding.
#pragma once

#include <cstddef>
#include <type_traits>

#include <ladon/ladon.hpp>

namespace c_kernel {

// The lengths of a run: 0 stands for what is usual, LADON_NONE for 0.
template <class From>
ladon::Lengths lengths_of(const From& from, const ladon::Shape& shape) {
  const auto pick = [](std::size_t own, std::size_t tokens, std::size_t all) {
    const std::size_t chosen = own != 0 ? own : tokens != 0 ? tokens : all;
    return chosen == LADON_NONE ? 0 : chosen;
  };
  std::size_t tokens = 0, queries = 0, keys = 0;
  if constexpr (requires { from.tokens; }) tokens = from.tokens;
  if constexpr (requires { from.queries; }) queries = from.queries;
  if constexpr (requires { from.keys; }) keys = from.keys;
  return {pick(queries, tokens, shape.queries), pick(keys, tokens, shape.keys)};
}

// Takes over what masks and scores need, each checked: lengths are within the shape, what a score needs is there, and
// what is read does not overlap with what is written.
template <ladon::Shape S, class Checked>
struct OptionsReader {
  Checked& check;

  template <class From, class Data>
  void mask(const From& from, Data& to) const {
    if constexpr (requires { to.first; }) {
      mask(from, to.first);
      mask(from, to.second);
    } else {
      if constexpr (requires { to.bits; }) take(from.bits, to.bits);
      if constexpr (requires { to.values; }) pairs(from.additive, from.additive_keys, to.values, to);
      if constexpr (requires {
                      to.may_see;
                      to.keys;
                    }) {
        pairs(from.boolean, from.boolean_keys, to.may_see, to);
      } else if constexpr (requires { to.may_see; }) {
        take(from.padding, to.may_see);
      }
      if constexpr (requires { to.slopes; }) take(from.slopes, to.slopes);
      if constexpr (requires {
                      to.offset;
                      from.offset;
                    })
        to.offset = from.offset;
    }
  }

  template <class From, class To>
  void score(const From& from, To& to) const {
    if constexpr (requires { from.sinks; }) {
      check.expect(from.sinks != nullptr, LADON_NULL_OPTION);
      take(from.sinks, to.sinks);
    }
    if constexpr (requires { from.rotary; }) {
      check.expect(from.rotary != nullptr, LADON_NULL_OPTION);
      check.reads(from.rotary, 1);
      // the header's struct has the members of ladon::RotaryTable, which a kernel only reads
      to.position.table = reinterpret_cast<decltype(to.position.table)>(from.rotary);
      static_assert(sizeof(*to.position.table) == sizeof(*from.rotary));
      to.position.offset = from.rotary_offset;
    }
  }

  // Whether positions first to first + count - 1 are in the rotary table.
  template <class Position, class From>
  void positions(const From& from, std::ptrdiff_t first, std::size_t count) const {
    if constexpr (Position::rotates) {
      if (count == 0) return;
      const std::size_t room = Position::positions;
      const std::size_t before = from.rotary_offset;
      check.expect(before <= room && count <= room - before, LADON_LENGTH_BEYOND_SHAPE);
      if (!check.ok()) return;
      const std::ptrdiff_t begin = first + static_cast<std::ptrdiff_t>(before);
      check.expect(begin >= 0 && begin <= static_cast<std::ptrdiff_t>(room - count), LADON_LENGTH_BEYOND_SHAPE);
    }
  }

 private:
  template <class T, class Tensor>
  void take(const T* from, Tensor& to) const {
    check.reads(from, Tensor::size);
    to = Tensor(from);
  }
  // Numbers or bytes for pairs, with as many columns as is said.
  template <class T, class Tensor, class Data>
  void pairs(const T* from, std::size_t columns, Tensor& to, Data& data) const {
    const std::size_t count = columns == 0 ? S.keys : columns == LADON_NONE ? 0 : columns;
    check.expect(count <= S.keys, LADON_LENGTH_BEYOND_SHAPE);
    check.reads(from, Tensor::size / S.keys * count);
    to = Tensor(from);
    data.keys = count;
  }
};

}  // namespace c_kernel
