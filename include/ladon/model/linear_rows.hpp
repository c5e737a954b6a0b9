// SPDX-License-Identifier: Apache-2.0
// Applies a linear map to rows: an input projection, a classifier, the head of a language model. A single row of
// float32 weights needs no workspace: linear.hpp.
//     using Head = ladon::LinearRows<64, 150000, 768, ladon::Order::out_in, ladon::Bias::without>;
//     static Head::Workspace workspace;
//     Head::run(x, table, logits, workspace, rows);        x [rows][768], logits [rows][150000]
#pragma once

#include <ladon/detail/config/quiet_begin.hpp>

#include <cstddef>
#include <type_traits>

#include <ladon/checks.hpp>
#include <ladon/detail/panel/call_checks.hpp>
#include <ladon/detail/panel/panels.hpp>
#include <ladon/detail/panel/product_input.hpp>
#include <ladon/detail/panel/workspace.hpp>
#include <ladon/detail/product/product.hpp>
#include <ladon/weights.hpp>

namespace LADON_NAMESPACE {

// Up to `Rows` rows, and weights of the type `Linear`.
template <std::size_t Rows, class Linear, class Vectors = detail::vec::NativeVectors>
struct LinearRowsOf;

template <std::size_t Rows, std::size_t Out, std::size_t In, Order O, Bias B, class Precision, class Vectors>
struct LinearRowsOf<Rows, Linear<Out, In, O, B, Precision>, Vectors> {
  static_assert(Rows > 0 && Out > 0 && In > 0, "ladon: a linear map has at least one row, one output and one input");
  static constexpr detail::PanelLayout layout = detail::panel_layout<Vectors>(Rows, In);
  static constexpr detail::PanelLayout last = detail::last_panel_layout<Vectors>(Rows, In);
  // A panel of one row is the row itself, so that the product reads `x` and writes `y`.
  static constexpr bool direct = layout.width() == 1;
  // How many panels share a read of the weights, and how many outputs are computed before they become rows. Neither the
  // workspace nor the code grows with Out. The last part of the outputs overlaps the part before, because all parts
  // have the same size.
  static constexpr std::size_t panels = [] {
    constexpr std::size_t most = detail::panels_at_a_time<Vectors, layout, Rows, In>, needed = layout.panels(Rows);
    return most < needed ? most : needed;
  }();
  static constexpr std::size_t outputs = [] {
    constexpr std::size_t most = detail::outputs_at_a_time(panels * layout.width()), parts = (Out + most - 1) / most;
    return direct ? Out : (Out + parts - 1) / parts;
  }();

  using Weights = Linear<Out, In, O, B, Precision>;
  struct Workspace {
    static constexpr std::size_t rows = panels * layout.width();
    LADON_NO_UNIQUE_ADDRESS std::conditional_t<direct, NoPanels, Panels<rows, In, layout>> x;
    LADON_NO_UNIQUE_ADDRESS detail::LinearInput<Precision, Vectors, rows, In, layout> input;
    LADON_NO_UNIQUE_ADDRESS std::conditional_t<direct, NoPanels, Panels<rows, outputs, layout>> y;
  };

  // Computes `y` [rows][Out] = x W^T + b from `x` [rows][In]. `y` must not overlap the other arrays. Precondition: rows
  // <= Rows.
  static constexpr void run(const float* x, const Weights& weights, float* y, Workspace& workspace,
                            std::size_t rows = Rows) noexcept {
    LADON_EXPECTS(rows <= Rows, "ladon: more rows than the type has room for", detail::caller_of(weights),
                  {{"rows", rows}, {"Rows", Rows}});
    detail::expect_memory(detail::caller_of(weights), {{y, rows * Out}, {}, {{x, rows * In}}}, workspace);
    if (rows == 0) return;
    detail::vec::with_packs<Vectors>([&]<class Simd>(Simd) {
      for_panels<layout, last, Rows, panels>(
          rows, [&]<detail::PanelLayout P, std::size_t Packs>(std::size_t first, std::size_t count) {
            const Range range = detail::tokens_of<layout>(first, count, rows);
            multiply<Simd, P, Packs>({x + range.begin * In, range.end - range.begin}, weights, y + range.begin * Out,
                                     workspace, first == 0 ? detail::Reading::first : detail::Reading::again);
          });
    });
  }

 private:
  struct Input {
    const float* rows;
    std::size_t count;
  };

  // Multiplies the rows of a few panels, the first of which is the first panel of the workspace.
  template <class Simd, detail::PanelLayout P, std::size_t Packs>
  static constexpr void multiply(Input x, const Weights& weights, float* y, Workspace& workspace,
                                 detail::Reading reading) noexcept {
    constexpr std::size_t width = P.width();
    const std::size_t count = P.panels(x.count);
    if constexpr (direct) {
      const auto in = workspace.input.template convert<Simd, P, Packs, In>(x.rows, 0, count);
      detail::matmul<Simd, P, Packs, Out, In>(weights.rows_from(0), in, count, detail::StoreProjected<width>{y, 0});
    } else {
      using Pack = typename Simd::template Pack<P.lanes>;
      float* const results = workspace.y.data;
      to_panels<Pack, P, In>(x.rows, x.count, workspace.x.data);
      const auto in = workspace.input.template convert<Simd, P, Packs, In>(workspace.x.data, 0, count);
      for (std::size_t part = 0; part < Out; part += outputs) {
        const std::size_t first = part < Out - outputs ? part : Out - outputs;
        detail::matmul<Simd, P, Packs, outputs, In>(weights.rows_from(first), in, count,
                                                    detail::StoreProjected<width>{results, outputs * width}, reading);
        from_panels<Pack, P, outputs, Out>(results, x.count, y + first);
      }
    }
  }
};

template <std::size_t Rows, std::size_t Out, std::size_t In, Order O = Order::out_in, Bias B = Bias::with,
          class Precision = precision::Float32>
using LinearRows = LinearRowsOf<Rows, Linear<Out, In, O, B, Precision>>;

}  // namespace LADON_NAMESPACE
#include <ladon/detail/config/quiet_end.hpp>
