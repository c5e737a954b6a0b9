// SPDX-License-Identifier: Apache-2.0
// Views of the caller's weights and biases for matrix products: WeightRows for float32 and bfloat16, Int8Rows for int8.
// The views refer to the caller's tensors and copy nothing.
#pragma once

#include <cstddef>
#include <cstdint>

#include <ladon/detail/build/compiler.hpp>

namespace LADON_NAMESPACE::detail {

// A view of a matrix: element (row, i) is data[row * RowStride + i * InnerStride]. `i` is the inner index of the
// product. For weights, `i` is the index of an input feature. Either RowStride or InnerStride is 1. The attention
// kernels also read the panels of K^T and V^T as a WeightMatrix.
template <class ElementType, std::size_t RowStride, std::size_t InnerStride>
struct WeightMatrix {
  using Element = ElementType;
  static constexpr std::size_t row_stride = RowStride, inner_stride = InnerStride;
  static constexpr bool rows_contiguous = InnerStride == 1;

  const Element* data;

  // rows_from returns the matrix from row `first` on. columns_from returns the matrix from column `first` on.
  constexpr WeightMatrix rows_from(std::size_t first) const noexcept { return {data + first * RowStride}; }
  constexpr WeightMatrix columns_from(std::size_t first) const noexcept { return {data + first * InnerStride}; }
};

// The biases of a product, one bias for each row of the weights.
struct BiasVector {
  const float* data;

  // Returns the biases from row `first` on. `opaque` prevents the compiler from reading the biases too early: they
  // would occupy registers that the tile of the product needs.
  LADON_INLINE constexpr BiasVector from(std::size_t first) const noexcept { return {opaque(data + first)}; }
  constexpr float operator[](std::size_t row) const noexcept { return data[row]; }
  // Returns `sum` plus the biases of the rows from `row` on. Each lane of `sum` belongs to one row.
  template <class Pack>
  LADON_INLINE constexpr Pack add_to(const Pack& sum, std::size_t row) const noexcept {
    return sum + load<Pack>(row);
  }
  // Returns the biases of the rows from `row` on, one in each lane.
  template <class Pack>
  LADON_INLINE constexpr Pack load(std::size_t row) const noexcept {
    return Pack::load(data + row);
  }
};

// For linear maps without a bias: every bias is 0. The type has no data member.
struct NoBias {
  LADON_INLINE constexpr NoBias from(std::size_t) const noexcept { return {}; }
  constexpr float operator[](std::size_t) const noexcept { return 0.0f; }
  template <class Pack>
  LADON_INLINE constexpr Pack add_to(const Pack& sum, std::size_t) const noexcept {
    return sum;
  }
  template <class Pack>
  LADON_INLINE constexpr Pack load(std::size_t) const noexcept {
    return Pack::broadcast(0.0f);
  }
};

// Some rows of a weight matrix, and their biases.
template <class Matrix, class Biases>
struct WeightRows {
  Matrix weight;
  [[no_unique_address]] Biases bias;

  // Returns the same rows, but from column `first` on. A bias belongs to a whole row, so the biases are the same.
  constexpr WeightRows columns_from(std::size_t first) const noexcept { return {weight.columns_from(first), bias}; }
};

// The largest number of features of an int8 product. The sum of 65,536 products still fits into 32 bits: 65,536 * 255
// * 128 is less than 2^31.
inline constexpr std::size_t most_int8_features = 65536;

// Some rows of int8 weights. Each row has a scale, a bias and the sum of its weights (`row_sum`). Products read
// `row_sum` only if the quantised features are q + zero (detail/panel/quantise.hpp), with 8 or with 7 bits.
template <std::size_t RowStride, class Biases>
struct Int8Rows {
  WeightMatrix<std::int8_t, RowStride, 1> weight;
  const float* scale;
  const std::int32_t* row_sum;
  [[no_unique_address]] Biases bias;
};

}  // namespace LADON_NAMESPACE::detail
