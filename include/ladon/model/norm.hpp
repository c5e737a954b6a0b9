// SPDX-License-Identifier: Apache-2.0
// Norms of rows [rows][size] outside the layers, such as the norm of embeddings. GroupNorm: group_norm.hpp.
#pragma once

#include <ladon/detail/config/quiet_begin.hpp>

#include <cstddef>

#include <ladon/checks.hpp>
#include <ladon/detail/layer/norm.hpp>
#include <ladon/detail/vec/choose.hpp>
#include <ladon/weights.hpp>

namespace LADON_NAMESPACE {

// Writes the norm of each row of `x` [rows][Size] to `y` [rows][Size]. `y` may be `x`, but must not partly overlap `x`.
template <std::size_t Size, NormKind K, Bias B, NormGain G, class Vectors = detail::vec::NativeVectors>
constexpr void normalise(const Norm<Size, K, B, G>& norm, std::size_t rows, const float* x, float* y) noexcept {
  detail::expect_tensors(norm);
  detail::normalize_rows<Vectors>(x, norm, rows, y);
}

// Like `normalise`, but without gain and bias.
template <std::size_t Size, NormKind K, class Vectors = detail::vec::NativeVectors>
constexpr void normalise_without_gain(float epsilon, std::size_t rows, const float* x, float* y) noexcept {
  detail::normalize_rows<Vectors>(x, detail::NormWithFactor<Size, K>{1, epsilon}, rows, y);
}

// Divides each row of `x` [rows][Size] by its length, the root of the sum of its squares. A row of zeros stays 0.
template <std::size_t Size, class Vectors = detail::vec::NativeVectors>
constexpr void unit_length(std::size_t rows, float* x) noexcept {
  // The length is sqrt(Size) times the root of the mean of squares.
  const float factor = 1 / detail::vec::sqrt_scalar(static_cast<float>(Size));
  detail::normalize_rows<Vectors>(x, detail::NormWithFactor<Size, NormKind::rms>{factor, 0}, rows, x);
}

}  // namespace LADON_NAMESPACE
#include <ladon/detail/config/quiet_end.hpp>
