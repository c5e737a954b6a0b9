// SPDX-License-Identifier: Apache-2.0
// Views of the caller's weights and biases. They copy nothing.
#pragma once

#include <cstddef>
#include <cstdint>

#include <ladon/detail/config/compiler.hpp>

namespace LADON_NAMESPACE::detail {

// Element (row, i) is data[row * RowStride + i * InnerStride], with the inner index i. Either stride is 1. Attention
// reads panels of K^T and V^T as a WeightMatrix, too.
template <class ElementType, std::size_t RowStride, std::size_t InnerStride>
struct WeightMatrix {
  using Element = ElementType;
  static constexpr std::size_t row_stride = RowStride, inner_stride = InnerStride;
  static constexpr bool rows_contiguous = InnerStride == 1;

  const Element* data;

  constexpr WeightMatrix rows_from(std::size_t first) const noexcept { return {data + first * RowStride}; }
  constexpr WeightMatrix columns_from(std::size_t first) const noexcept { return {data + first * InnerStride}; }
};

// One bias for each row of the weights.
struct BiasVector {
  const float* data;

  // `opaque`: if the compiler read the biases early, they would occupy registers that the tile needs.
  LADON_INLINE constexpr BiasVector from(std::size_t first) const noexcept { return {opaque(data + first)}; }
  constexpr float operator[](std::size_t row) const noexcept { return data[row]; }
  // Returns `sum` plus the biases of the rows from `row` on, one row in each lane.
  template <class Pack>
  LADON_INLINE constexpr Pack add_to(const Pack& sum, std::size_t row) const noexcept {
    return sum + load<Pack>(row);
  }
  template <class Pack>
  LADON_INLINE constexpr Pack load(std::size_t row) const noexcept {
    return Pack::load(data + row);
  }
};

// Every bias is 0.
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

template <class Matrix, class Biases>
struct WeightRows {
  Matrix weight;
  [[no_unique_address]] Biases bias;

  // A bias belongs to a whole row, so the biases stay the same.
  constexpr WeightRows columns_from(std::size_t first) const noexcept { return {weight.columns_from(first), bias}; }
};

// With this many features, a sum still fits into 32 bits: 65,536 * 255 * 128 < 2^31.
inline constexpr std::size_t most_int8_features = 65536;

// Each row has a scale, a bias and the sum of its weights, which is read only if features are q + zero
// (detail/panel/quantise_features.hpp).
template <std::size_t RowStride, class Biases>
struct Int8Rows {
  WeightMatrix<std::int8_t, RowStride, 1> weight;
  const float* scale;
  const std::int32_t* row_sum;
  [[no_unique_address]] Biases bias;
};

}  // namespace LADON_NAMESPACE::detail
