// SPDX-License-Identifier: Apache-2.0
// Computes a row `y` [Width] from the rows `x` [tokens][Width] of all tokens. Without tokens, `y` becomes 0. `y` may be
// the first row of `x`; any other overlap is forbidden.
#pragma once

#include <ladon/detail/config/quiet_begin.hpp>

#include <cstddef>

namespace LADON_NAMESPACE {

template <std::size_t Width>
constexpr void first_row(const float* x, std::size_t tokens, float* y) noexcept {
  for (std::size_t i = 0; i < Width; ++i) y[i] = tokens == 0 ? 0 : x[i];
}

template <std::size_t Width>
constexpr void last_row(const float* x, std::size_t tokens, float* y) noexcept {
  first_row<Width>(tokens == 0 ? x : x + (tokens - 1) * Width, tokens, y);
}

// Computes the mean of each feature.
template <std::size_t Width>
constexpr void mean_pool(const float* x, std::size_t tokens, float* y) noexcept {
  first_row<Width>(x, tokens, y);
  for (std::size_t t = 1; t < tokens; ++t) {
    for (std::size_t i = 0; i < Width; ++i) y[i] += x[t * Width + i];
  }
  const float count = tokens == 0 ? 1 : static_cast<float>(tokens);
  for (std::size_t i = 0; i < Width; ++i) y[i] /= count;
}

// Computes the largest value of each feature.
template <std::size_t Width>
constexpr void max_pool(const float* x, std::size_t tokens, float* y) noexcept {
  first_row<Width>(x, tokens, y);
  for (std::size_t t = 1; t < tokens; ++t) {
    for (std::size_t i = 0; i < Width; ++i) y[i] = y[i] < x[t * Width + i] ? x[t * Width + i] : y[i];
  }
}

}  // namespace LADON_NAMESPACE
#include <ladon/detail/config/quiet_end.hpp>
