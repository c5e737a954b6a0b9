// SPDX-License-Identifier: Apache-2.0
// Applies a linear map to rows: an input projection, a classifier, the head of a language model. For a single
// row of x and float32 weights, `linear` needs no workspace (linear.hpp).
//     using Head = ladon::LinearRows<64, 150000, 768, ladon::Order::out_in, ladon::Bias::without>;
//     static Head::Workspace workspace;
//     Head::run(x, table, logits, workspace, rows);        x [rows][768], logits [rows][150000]
#pragma once

#include <ladon/detail/config/quiet_begin.hpp>

#include <cstddef>

#include <ladon/checks.hpp>
#include <ladon/detail/panel/call_checks.hpp>
#include <ladon/detail/panel/panels.hpp>
#include <ladon/detail/product/row_product.hpp>
#include <ladon/weights.hpp>

namespace LADON_NAMESPACE {

// Applies weights of type `Linear` to at most `Rows` rows.
template <std::size_t Rows, class Linear, class Vectors = detail::vec::NativeVectors>
struct LinearRowsOf;

template <std::size_t Rows, std::size_t Out, std::size_t In, Order O, Bias B, class Precision, class Vectors>
struct LinearRowsOf<Rows, Linear<Out, In, O, B, Precision>, Vectors> {
  static_assert(Rows > 0 && Out > 0 && In > 0, "ladon: a linear map has at least one row, one output and one input");
  using Product = detail::RowProduct<detail::RowProductSizes{Rows, Out, In, 1, true}, Precision, Vectors>;
  using Weights = Linear<Out, In, O, B, Precision>;
  using Workspace = typename Product::Workspace;

  // Computes `y` [rows][Out] = x W^T + b from `x` [rows][In]. `y` must not overlap the other arrays. Precondition: rows
  // <= Rows.
  static constexpr void run(const float* x, const Weights& weights, float* y, Workspace& workspace,
                            std::size_t rows = Rows) noexcept {
    LADON_EXPECTS(rows <= Rows, "ladon: more rows than the type has room for", detail::caller_of(weights),
                  {{"rows", rows}, {"Rows", Rows}});
    detail::expect_memory(detail::caller_of(weights), {{y, rows * Out}, {}, {{x, rows * In}}}, workspace);
    Product::run(
        [&]<class Pack, detail::PanelLayout P>(std::size_t, Range tokens, float* panels) -> const float* {
          const float* const first = x + tokens.begin * In;
          if constexpr (!Product::single) {
            to_panels<Pack, P, In>(first, tokens.end - tokens.begin, panels);
            return panels;
          }
          return first;
        },
        weights, rows, y, workspace);
  }
};

template <std::size_t Rows, std::size_t Out, std::size_t In, Order O = Order::out_in, Bias B = Bias::with,
          class Precision = precision::Float32>
using LinearRows = LinearRowsOf<Rows, Linear<Out, In, O, B, Precision>>;

}  // namespace LADON_NAMESPACE
#include <ladon/detail/config/quiet_end.hpp>
