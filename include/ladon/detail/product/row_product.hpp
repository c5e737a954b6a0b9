// SPDX-License-Identifier: Apache-2.0
// Products that gather their input and write rows: rows -> panels -> product -> rows. For any number of tokens and
// outputs, the workspace has a few panels and a part of their results.
#pragma once

#include <cstddef>
#include <type_traits>

#include <ladon/detail/panel/panels.hpp>
#include <ladon/detail/panel/product_input.hpp>
#include <ladon/detail/panel/vectors_for.hpp>
#include <ladon/detail/panel/workspace.hpp>
#include <ladon/detail/product/product.hpp>

namespace LADON_NAMESPACE::detail {

struct RowProductSizes {
  std::size_t tokens;
  std::size_t outputs;
  std::size_t inputs;  // of each output
  std::size_t groups = 1;
  bool reads_single_row = false;  // whether the input of a single token is the caller's row
};

template <RowProductSizes S, class Precision, class Vectors = VectorsFor<Precision>>
struct RowProduct {
  static constexpr PanelLayout layout = panel_layout<Vectors>(S.tokens), last = last_panel_layout<Vectors>(S.tokens);
  // The panel of a single token is a row, so the product writes `y` without the memory `out`.
  static constexpr bool single = layout.width() == 1;
  // How many panels share a read of the weights: so few that result_bytes_at_a_time has room for 96 outputs of each
  // token. With room for 24, the first convolution of wav2vec 2.0 takes 2.4 times as long (Zen 5).
  static constexpr std::size_t panels = [] {
    constexpr std::size_t tokens = target::Current::result_bytes_at_a_time / sizeof(float) / 96;
    constexpr std::size_t for_results = tokens < layout.width() ? 1 : tokens / layout.width(),
                          for_input = panels_at_a_time<Vectors, layout, S.tokens, S.inputs>;
    constexpr std::size_t most = for_results < for_input ? for_results : for_input, needed = layout.panels(S.tokens);
    return most < needed ? most : needed;
  }();
  static constexpr std::size_t rows = S.outputs / S.groups, tokens_together = panels * layout.width();
  // How many outputs are computed before they become rows. The last part of a group overlaps the part before, because
  // all parts have the same size.
  static constexpr std::size_t part = [] {
    constexpr std::size_t most = outputs_at_a_time(tokens_together), parts = (rows + most - 1) / most;
    return single ? rows : (rows + parts - 1) / parts;
  }();

  struct Workspace {
    using In = std::conditional_t<single && S.reads_single_row, NoPanels, Panels<tokens_together, S.inputs, layout>>;
    using Out = std::conditional_t<single, NoPanels, Panels<tokens_together, part, layout>>;
    LADON_NO_UNIQUE_ADDRESS In in;
    LADON_NO_UNIQUE_ADDRESS LinearInput<Precision, Vectors, tokens_together, S.inputs, layout> input;
    LADON_NO_UNIQUE_ADDRESS Out out;
  };

  // Computes the rows `y` [active][outputs]. gather.operator()<Pack, P>(g, tokens, memory) returns a pointer to the
  // input of group g, [panels][inputs][width]: `memory`, where it has written the input, or the caller's row.
  static constexpr void run(auto gather, const auto& weights, std::size_t active, float* y,
                            Workspace& workspace) noexcept {
    if (active == 0) return;
    vec::with_packs<Vectors>([&]<class Simd>(Simd) {
      const auto pass = [&]<PanelLayout P, std::size_t Packs>(std::size_t first, std::size_t count) {
        const Range tokens = tokens_of<layout>(first, count, active);
        for (std::size_t g = 0; g < S.groups; ++g) {
          const float* const in =
              gather.template operator()<typename Simd::template Pack<P.lanes>, P>(g, tokens, workspace.in.data);
          multiply<Simd, P, Packs>(
              workspace.input.template convert<Simd, P, Packs, S.inputs>(in, 0, count, tokens.end - tokens.begin),
              weights, {g * rows, tokens}, y, workspace.out.data);
        }
      };
      for_panels<layout, last, S.tokens, panels, halves_apart<layout, decltype(Workspace::input)>>(active, pass);
    });
  }

 private:
  struct Block {
    std::size_t first_output;
    Range tokens;
  };

  template <class Simd, PanelLayout P, std::size_t Packs>
  static LADON_INLINE constexpr void multiply(auto in, const auto& weights, Block block, float* y,
                                              float* out) noexcept {
    const std::size_t tokens = block.tokens.end - block.tokens.begin;
    const Reading reading = block.tokens.begin == 0 ? Reading::first : Reading::again;
    y += block.tokens.begin * S.outputs + block.first_output;
    for (std::size_t done = 0; done < rows; done += part) {
      const std::size_t first = done < rows - part ? done : rows - part;
      matmul<Simd, P, Packs, part, S.inputs>(weights.rows_from(block.first_output + first), in, P.panels(tokens),
                                             StoreProjected<P.width()>{single ? y : out, part * P.width()}, reading);
      if constexpr (!single) {
        from_panels<typename Simd::template Pack<P.lanes>, P, part, S.outputs>(out, tokens, y + first);
      }
    }
  }
};

}  // namespace LADON_NAMESPACE::detail
