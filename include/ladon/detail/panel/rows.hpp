// SPDX-License-Identifier: Apache-2.0
// Ranges of rows, tiles of rows, and views of the caller's weights and biases, which copy nothing.
#pragma once

#include <cstddef>
#include <cstdint>

#include <ladon/detail/config/compiler.hpp>

namespace LADON_NAMESPACE {

// Half-open: begin <= i < end.
struct Range {
  std::size_t begin;
  std::size_t end;
  constexpr bool contains(Range inner) const noexcept { return begin <= inner.begin && inner.end <= end; }
  friend constexpr Range operator&(Range a, Range b) noexcept {
    const std::size_t first = a.begin > b.begin ? a.begin : b.begin;
    const std::size_t last = a.end < b.end ? a.end : b.end;
    return {first, last < first ? first : last};
  }
};

namespace detail {

// Divides Rows rows into tiles of at most MaxRows rows, as evenly as possible. The first `higher_tiles` tiles have
// `low` + 1 rows, and the others `low`. With MaxRows = 12, 64 rows become four tiles of 11 and two of 10.
template <std::size_t Rows, std::size_t MaxRows>
struct RowTiles {
  static constexpr std::size_t count = (Rows + MaxRows - 1) / MaxRows, low = Rows / count, higher_tiles = Rows % count;
  static constexpr std::size_t end_of_higher = higher_tiles * (low + 1);
};
// Calls tile.operator()<R>(first_row) for each tile of R rows.
template <std::size_t Rows, std::size_t MaxRows, class F>
LADON_INLINE constexpr void for_row_tiles(F tile) noexcept {
  using Tiles = RowTiles<Rows, MaxRows>;
  std::size_t row = 0;
  if constexpr (Tiles::higher_tiles > 0) {
    for (; row < Tiles::end_of_higher; row += Tiles::low + 1) tile.template operator()<Tiles::low + 1>(row);
  }
  for (; row < Rows; row += Tiles::low) tile.template operator()<Tiles::low>(row);
}

// Reads a square of Pack::lanes rows, `stride` floats apart, and transposes it. `from` points to row number `row`. Only
// rows before number `end`, and only the first `columns` columns, are read. The other numbers are 0.
template <class Pack>
LADON_INLINE constexpr void load_transposed(const float* from, std::size_t stride, std::size_t row, std::size_t end,
                                            std::size_t columns, Pack (&square)[Pack::lanes]) noexcept {
  LADON_UNROLLED_FOR(r, Pack::lanes) {
    if (row + r >= end) {
      square[r] = Pack::broadcast(0.0f);
    } else {
      square[r] =
          columns == Pack::lanes ? Pack::load(from + r * stride) : Pack::load_partial(from + r * stride, columns);
    }
  }
  Pack::transpose(square);
}

// Element (row, i) is data[row * RowStride + i * InnerStride]. A product sums over i. One stride is 1. Attention reads
// panels of K^T and V^T as a WeightMatrix, too.
template <class ElementType, std::size_t RowStride, std::size_t InnerStride>
struct WeightMatrix {
  using Element = ElementType;
  static constexpr std::size_t row_stride = RowStride, inner_stride = InnerStride;
  static constexpr bool rows_contiguous = InnerStride == 1;

  const Element* data;

  constexpr WeightMatrix rows_from(std::size_t first) const noexcept { return {data + first * RowStride}; }
  constexpr WeightMatrix columns_from(std::size_t first) const noexcept { return {data + first * InnerStride}; }
};

struct BiasVector {
  const float* data;

  // Without `opaque`, the compiler may read the biases early, into registers that the tile needs.
  LADON_INLINE constexpr BiasVector from(std::size_t first) const noexcept { return {opaque(data + first)}; }
  LADON_INLINE constexpr BiasVector panels_from(std::size_t) const noexcept { return *this; }
  constexpr float operator[](std::size_t row) const noexcept { return data[row]; }
  // Returns the initial value of the sums of a row, like PartialSums in detail/product/product_form.hpp.
  template <class Pack>
  LADON_INLINE constexpr Pack start(std::size_t, std::size_t row, std::size_t) const noexcept {
    return Pack::broadcast(data[row]);
  }
  // Returns the biases of the rows from `row` on, one row in each lane.
  template <class Pack>
  LADON_INLINE constexpr Pack load(std::size_t row) const noexcept {
    return Pack::load(data + row);
  }
};

struct NoBias {
  LADON_INLINE constexpr NoBias from(std::size_t) const noexcept { return {}; }
  LADON_INLINE constexpr NoBias panels_from(std::size_t) const noexcept { return {}; }
  constexpr float operator[](std::size_t) const noexcept { return 0.0f; }
  template <class Pack>
  LADON_INLINE constexpr Pack start(std::size_t, std::size_t, std::size_t) const noexcept {
    return Pack::broadcast(0.0f);
  }
  template <class Pack>
  LADON_INLINE constexpr Pack load(std::size_t) const noexcept {
    return Pack::broadcast(0.0f);
  }
};

template <class Matrix, class Biases>
struct WeightRows {
  Matrix weight;
  LADON_NO_UNIQUE_ADDRESS Biases bias;

  // A bias belongs to a whole row, so the biases stay the same.
  constexpr WeightRows columns_from(std::size_t first) const noexcept { return {weight.columns_from(first), bias}; }
  constexpr WeightRows rows_from(std::size_t first) const noexcept {
    return {weight.rows_from(first), bias.from(first)};
  }
};
template <class Matrix, class Biases>
WeightRows(Matrix, Biases) -> WeightRows<Matrix, Biases>;

// With at most this many features, a sum of int8 products fits into 32 bits: 65,536 * 255 * 128 < 2^31.
inline constexpr std::size_t most_int8_features = 65536;

// Rows of 4-bit weights, or, if `int8` is not null, rows of int8 weights.
template <std::size_t RowBytes, std::size_t Inner>
struct Int4Matrix {
  using Element = std::uint8_t;
  const std::uint8_t* data;
  const std::int8_t* int8;

  constexpr Int4Matrix rows_from(std::size_t first) const noexcept {
    if (int8 != nullptr) return {nullptr, int8 + first * Inner};
    return {data + first * RowBytes, nullptr};
  }
};

// row_sum is read only if panels store q + zero: a quantised feature q plus the zero point of its token
// (detail/panel/int8_panels.hpp).
template <class Matrix, class BiasesType>
struct IntegerRows {
  using Biases = BiasesType;
  Matrix weight;
  const float* scale;
  const std::int32_t* row_sum;
  LADON_NO_UNIQUE_ADDRESS Biases bias;

  constexpr IntegerRows rows_from(std::size_t first) const noexcept {
    return {weight.rows_from(first), scale + first, row_sum + first, bias.from(first)};
  }
};
template <std::size_t RowStride, class Biases>
using Int8Rows = IntegerRows<WeightMatrix<std::int8_t, RowStride, 1>, Biases>;

// Rotation multiplies each block of eight numbers by the Hadamard matrix H (entries 1 and -1, Sylvester's order). A
// large number is spread over its block (bench/tuning-log.md). Products stay the same: W x = (W H) (H x) / 8.
inline constexpr std::size_t rotated_block = 8;

// Rotates in place. The order of additions is fixed, so all targets compute the same bits.
template <class Number>
LADON_INLINE constexpr void rotate_block(Number* block) noexcept {
  LADON_UNROLL
  for (std::size_t half = 1; half < rotated_block; half *= 2) {
    LADON_UNROLLED_FOR(i, rotated_block / 2) {
      const std::size_t first = i / half * 2 * half + i % half;
      const Number a = block[first], b = block[first + half];
      block[first] = a + b;
      block[first + half] = a - b;
    }
  }
}

// Calls visit(i, number) for each number of a row, `stride` floats apart. With Rotated, the numbers are rotated first.
template <bool Rotated>
constexpr void for_each_number(const float* x, std::size_t size, std::size_t stride, auto visit) noexcept {
  constexpr std::size_t block = Rotated ? rotated_block : 1;
  for (std::size_t i = 0; i < size; i += block) {
    float number[block]{};
    for (std::size_t j = 0; j < block; ++j) number[j] = x[(i + j) * stride];
    if constexpr (Rotated) rotate_block(number);
    for (std::size_t j = 0; j < block; ++j) visit(i + j, number[j]);
  }
}
// `to` may equal `x`.
constexpr void rotate_blocks(const float* x, std::size_t size, std::size_t stride, float* to) noexcept {
  for_each_number<true>(x, size, stride, [&](std::size_t i, float number) { to[i * stride] = number; });
}

}  // namespace detail
}  // namespace LADON_NAMESPACE
