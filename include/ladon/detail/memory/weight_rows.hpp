// Views of the caller's weights and biases for matrix products. Weights are not copied. A view has an element type, a
// row stride and an inner stride.
//
// A new element type needs the following parts:
//
//     layouts (LinearStrides)          weights.hpp
//     WeightMatrix                     this file
//     MicroKernel                      detail/linear/micro_kernel.hpp
//     FoldedMicroKernel, few tokens    detail/linear/micro_kernel_folded.hpp
//     loops for a single token         detail/linear/matrix_vector.hpp
#pragma once

#include <cstddef>

#include <ladon/detail/target/compiler.hpp>

namespace ladon::inline LADON_ABI::detail {

// A matrix in memory: element (row, i) is data[row * RowStride + i * InnerStride]. `i` is the inner index of the
// product: for weights, the input feature. One of the two strides is 1. K^T and V^T in panels are also read as a
// WeightMatrix.
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

// The biases of a product, one for each row.
struct BiasVector {
  const float* data;

  // Returns the biases from row `first` on. `opaque` makes the compiler read the biases at the start of a tile and not
  // earlier, where they would occupy registers.
  LADON_INLINE constexpr BiasVector from(std::size_t first) const noexcept { return {opaque(data + first)}; }
  constexpr float operator[](std::size_t row) const noexcept { return data[row]; }
  // Returns `sum` plus the biases of the rows from `row` on. Each lane has one row.
  template <class Pack>
  LADON_INLINE constexpr Pack add_to(const Pack& sum, std::size_t row) const noexcept {
    return sum + Pack::load(data + row);
  }
};

// Stands for biases of 0, without memory.
struct NoBias {
  LADON_INLINE constexpr NoBias from(std::size_t) const noexcept { return {}; }
  constexpr float operator[](std::size_t) const noexcept { return 0.0f; }
  template <class Pack>
  LADON_INLINE constexpr Pack add_to(const Pack& sum, std::size_t) const noexcept {
    return sum;
  }
};

// Rows of a weight matrix and the biases of these rows.
template <class Matrix, class Biases>
struct WeightRows {
  Matrix weight;
  [[no_unique_address]] Biases bias;

  // Returns the same rows and biases, with the columns from `first` on.
  constexpr WeightRows columns_from(std::size_t first) const noexcept { return {weight.columns_from(first), bias}; }
};

}  // namespace ladon::inline LADON_ABI::detail
