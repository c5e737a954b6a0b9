// SPDX-License-Identifier: Apache-2.0
// Applies activations to an array in place: after a pooler, a convolution, or a head's linear map.
#pragma once

#include <ladon/detail/config/quiet_begin.hpp>

#include <cstddef>

#include <ladon/detail/layer/activation.hpp>
#include <ladon/detail/vec/choose.hpp>
#include <ladon/detail/vec/elementary.hpp>
#include <ladon/model.hpp>

namespace LADON_NAMESPACE {

// Replaces each number x by F(x).
template <Activation F, class Vectors = detail::vec::NativeVectors>
constexpr void activate(float* x, std::size_t count) noexcept {
  static_assert(F != Activation::xielu, "ladon: Activation::xielu has learned numbers, which only a layer has");
  detail::vec::with_packs<Vectors>([&]<class Simd>(Simd) {
    detail::transform_floats<Simd>(x, count, [](const auto& pack) { return detail::activate<F>(pack); });
  });
}

// Replaces each of the `count` numbers by its hyperbolic tangent.
template <class Vectors = detail::vec::NativeVectors>
constexpr void tanh(float* x, std::size_t count) noexcept {
  detail::vec::with_packs<Vectors>([&]<class Simd>(Simd) {
    detail::transform_floats<Simd>(x, count, [](const auto& pack) { return detail::vec::tanh(pack); });
  });
}

}  // namespace LADON_NAMESPACE
#include <ladon/detail/config/quiet_end.hpp>
