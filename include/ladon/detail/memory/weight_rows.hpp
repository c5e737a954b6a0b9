// How a product reads its weights where they lie: element type, row stride and inner stride, and the biases.
//
// Another element type needs: its layouts in weights.hpp (LinearStrides), a WeightMatrix, a MicroKernel
// (detail/linear/micro_kernel.hpp), a FoldedMicroKernel for few tokens, and the loops for a single token
// (detail/linear/matrix_vector.hpp).
#pragma once

#include <cstddef>

#include <ladon/detail/target/compiler.hpp>

namespace ladon::inline LADON_ABI::detail {

// A matrix in memory: element (row, i) lies at data[row * RowStride + i * InnerStride]. A row has one number for each
// feature of a token (the inner index). One of the strides is 1. K^T and V^T in panels are read as such matrices, too.
template <class ElementType, std::size_t RowStride, std::size_t InnerStride>
struct WeightMatrix {
  using Element = ElementType;
  static constexpr std::size_t row_stride = RowStride, inner_stride = InnerStride;
  static constexpr bool rows_contiguous = InnerStride == 1;

  const Element* data;

  // Returns the matrix without its first rows, or without its first columns.
  constexpr WeightMatrix rows_from(std::size_t first) const noexcept { return {data + first * RowStride}; }
  constexpr WeightMatrix columns_from(std::size_t first) const noexcept { return {data + first * InnerStride}; }
};

// The biases [rows] of a product.
struct BiasVector {
  const float* data;

  // Returns the biases without the first ones. The compiler reads the biases when a tile starts, not earlier (opaque).
  LADON_INLINE constexpr BiasVector from(std::size_t first) const noexcept { return {opaque(data + first)}; }
  constexpr float operator[](std::size_t row) const noexcept { return data[row]; }
  // Returns sum + bias for the rows from `row` on, one a lane.
  template <class Pack>
  LADON_INLINE constexpr Pack add_to(const Pack& sum, std::size_t row) const noexcept {
    return sum + Pack::load(data + row);
  }
};

// No biases: sums start at 0.
struct NoBias {
  LADON_INLINE constexpr NoBias from(std::size_t) const noexcept { return {}; }
  constexpr float operator[](std::size_t) const noexcept { return 0.0f; }
  template <class Pack>
  LADON_INLINE constexpr Pack add_to(const Pack& sum, std::size_t) const noexcept {
    return sum;
  }
};

// Rows of a weight matrix and their biases: what a linear map multiplies by.
template <class Matrix, class Biases>
struct WeightRows {
  Matrix weight;
  [[no_unique_address]] Biases bias;

  // Returns the same rows without their first columns.
  constexpr WeightRows columns_from(std::size_t first) const noexcept { return {weight.columns_from(first), bias}; }
};

}  // namespace ladon::inline LADON_ABI::detail
