// SPDX-License-Identifier: Apache-2.0
// Applies a linear map to a single token, for example a classifier after the last layer.
#pragma once

#include <ladon/detail/config/quiet_begin.hpp>

#include <cstddef>
#include <type_traits>

#include <ladon/detail/product/product.hpp>
#include <ladon/weights.hpp>

namespace LADON_NAMESPACE {

// Computes `y` [Out] = W x + b from `x` [In], with the weight and the bias of `w`. `x` and `y` must not overlap. A null
// pointer in `w` breaks a precondition (checks.hpp).
template <std::size_t Out, std::size_t In, Order O, Bias B, class Vectors = detail::vec::NativeVectors>
constexpr void linear(const Linear<Out, In, O, B>& w, std::type_identity_t<VectorView<const float, In>> x,
                      std::type_identity_t<VectorView<float, Out>> y) noexcept {
  constexpr detail::PanelLayout one{1, 1, Vectors::single_token_rows};
  // Deterministic builds compute a single token like several tokens: each sum adds one product after another.
  using Packs = std::conditional_t<LADON_DETERMINISTIC, detail::vec::ConstantPacks, Vectors>;
  detail::vec::with_packs<Packs>([&]<class Simd>(Simd) {
    detail::matmul<Simd, one, 1, Out, In>(w.rows_from(0), detail::PanelsView{x.data}, 1,
                                          detail::Epilogue<1>{y.data, 0});
  });
}

}  // namespace LADON_NAMESPACE
#include <ladon/detail/config/quiet_end.hpp>
