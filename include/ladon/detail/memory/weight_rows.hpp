// How a product reads the weights of a linear map.
#pragma once

#include <cstddef>

#include <ladon/detail/target/compiler.hpp>
#include <ladon/views.hpp>

namespace ladon::inline LADON_ABI {

// Some rows of a weight and their biases as the product reads them: element (row, i) lies at
// weight[row * RowStride + i * InnerStride].
template <std::size_t RowStride, std::size_t InnerStride, Bias B = Bias::with>
struct WeightRows {
  const float* weight;
  const float* bias;
  // The same rows from a column on.
  constexpr WeightRows columns_from(std::size_t first) const noexcept { return {weight + first * InnerStride, bias}; }
};
template <std::size_t RowStride, std::size_t InnerStride>
struct WeightRows<RowStride, InnerStride, Bias::without> {
  const float* weight;
  constexpr WeightRows columns_from(std::size_t first) const noexcept { return {weight + first * InnerStride}; }
};

}  // namespace ladon::inline LADON_ABI
