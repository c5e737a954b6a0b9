// SPDX-License-Identifier: Apache-2.0
// Converts float32 weights to weights of 8 or 4 bits, without allocation, also in constant evaluation.
//     weight[r][i] is about scale[r] * q[r][i]       q is an integer from -127 to 127
//     scale[r] = (largest magnitude of row r) / 127
//
// q is weight[r][i] / scale[r], rounded to the nearest integer, ties to even. A row of zeros, or of magnitudes below
// 127 * 2^-126, becomes a row of zeros with the scale 1.
//
// With 4 bits, `weight` is [Out][int4_row_bytes(In)] (detail/vec/int4.hpp). Each group of 32 weights gets one of 16
// tables, which map codes to integers, and each row one of six scales, to minimise the squared error. A row of zeros
// gets the scale 0.
#pragma once

#include <ladon/detail/config/quiet_begin.hpp>

#include <cstddef>
#include <cstdint>
#include <type_traits>

#include <ladon/detail/panel/quantise_weights.hpp>
#include <ladon/views.hpp>
#include <ladon/weights.hpp>

namespace LADON_NAMESPACE {

// Quantises the weight of `linear`. `weight` [Out][In] and `scale` [Out] receive the result. A weight in the order
// in_out is transposed. Returns false, and writes nothing, if a weight is infinite or NaN. A null pointer breaks a
// precondition (checks.hpp). The bias of `linear` is also the bias of the quantised linear map.
template <std::size_t Out, std::size_t In, Order O, Bias B>
constexpr bool quantise(const Linear<Out, In, O, B>& linear,
                        std::type_identity_t<MatrixView<std::int8_t, Out, In>> weight,
                        std::type_identity_t<VectorView<float, Out>> scale) noexcept {
  return detail::quantise_linear<false>(linear, weight.data, scale.data);
}
template <std::size_t Out, std::size_t In, Order O, Bias B>
constexpr bool quantise_int4(const Linear<Out, In, O, B>& linear,
                             std::type_identity_t<MatrixView<std::uint8_t, Out, int4_row_bytes(In)>> weight,
                             std::type_identity_t<VectorView<float, Out>> scale) noexcept {
  return detail::quantise_linear<false>(linear, weight.data, scale.data);
}

// Makes the weights of layout::RotatedInt8 or RotatedInt4: quantises the rows of W H, where H is the rotation matrix of
// detail/panel/rows.hpp. Then divides the scales by -8, and changes the signs of the integers. Also returns false if a
// sum in W H is too large for a float.
template <std::size_t Out, std::size_t In, Order O, Bias B>
constexpr bool quantise_rotated(const Linear<Out, In, O, B>& linear,
                                std::type_identity_t<MatrixView<std::int8_t, Out, In>> weight,
                                std::type_identity_t<VectorView<float, Out>> scale) noexcept {
  static_assert(In % detail::rotated_block == 0,
                "ladon: the number of inputs of a rotated linear map is a multiple of 8");
  return detail::quantise_linear<true>(linear, weight.data, scale.data);
}
template <std::size_t Out, std::size_t In, Order O, Bias B>
constexpr bool quantise_rotated_int4(const Linear<Out, In, O, B>& linear,
                                     std::type_identity_t<MatrixView<std::uint8_t, Out, int4_row_bytes(In)>> weight,
                                     std::type_identity_t<VectorView<float, Out>> scale) noexcept {
  static_assert(In % detail::rotated_block == 0,
                "ladon: the number of inputs of a rotated linear map is a multiple of 8");
  return detail::quantise_linear<true>(linear, weight.data, scale.data);
}

// Computes row_sum [Out] from weight [Out][In]. A call names the sizes: row_sums<Out, In>(weight, row_sum).
template <std::size_t Out, std::size_t In>
constexpr void row_sums(MatrixView<const std::int8_t, Out, In> weight, VectorView<std::int32_t, Out> row_sum) noexcept {
  for (std::size_t r = 0; r < Out; ++r) row_sum.data[r] = detail::sum_of_row(weight.data + r * In, In);
}
template <std::size_t Out, std::size_t In>
constexpr void int4_row_sums(MatrixView<const std::uint8_t, Out, int4_row_bytes(In)> weight,
                             VectorView<std::int32_t, Out> row_sum) noexcept {
  constexpr std::size_t bytes = int4_row_bytes(In);
  for (std::size_t r = 0; r < Out; ++r) row_sum.data[r] = detail::sum_of_row(weight.data + r * bytes, In);
}

}  // namespace LADON_NAMESPACE
#include <ladon/detail/config/quiet_end.hpp>
