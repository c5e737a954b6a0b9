// SPDX-License-Identifier: Apache-2.0
// Products whose results are rows [tokens][Out]: gathered panels -> product -> rows. A few panels share each read of
// the weights, so the memory does not grow with the number of tokens.
#pragma once

#include <cstddef>

#include <ladon/detail/panel/panels.hpp>
#include <ladon/detail/panel/product_input.hpp>
#include <ladon/detail/product/product.hpp>

namespace LADON_NAMESPACE::detail {

template <std::size_t Tokens, std::size_t Out, std::size_t In, class Precision, class Vectors = vec::NativeVectors>
struct RowProduct {
  static constexpr PanelLayout layout = panel_layout<Vectors>(Tokens, In),
                               last = last_panel_layout<Vectors>(Tokens, In);
  // The panels of one pass over the weights. Without vectors, one panel: microcontrollers have little memory.
  static constexpr std::size_t panels_of_pass = [] {
    constexpr std::size_t panel_bytes = (In + Out) * layout.width() * sizeof(float), all_panels = layout.panels(Tokens);
    if (Vectors::lanes == 1) return std::size_t{1};
    constexpr std::size_t fitting = target::Current::panel_bytes_at_a_time / panel_bytes,
                          fewest = target::Current::fewest_panels_at_a_time;
    constexpr std::size_t wanted = fitting < fewest ? fewest : fitting;
    return wanted < all_panels ? wanted : all_panels;
  }();
  static constexpr std::size_t tokens_of_pass = panels_of_pass * layout.width();

  struct Workspace {
    Panels<tokens_of_pass, In, layout> in;
    Panels<tokens_of_pass, Out, layout> out;
    LADON_NO_UNIQUE_ADDRESS LinearInput<Precision, Vectors, tokens_of_pass, In, layout> input;
  };

  // Computes the rows `y` of the first `active` tokens. The outputs of group g come from the same rows of the weights
  // and from the panels [panels][In][width] that gather.operator()<Pack, P>(g, tokens, panels) writes.
  template <std::size_t Groups = 1>
  static constexpr void run(const auto& gather, const auto& weights, std::size_t active, float* y,
                            Workspace& workspace) noexcept {
    constexpr std::size_t rows = Out / Groups;
    vec::with_packs<Vectors>([&]<class Simd>(Simd) {
      const auto pass = [&]<PanelLayout P, std::size_t Packs>(std::size_t first, std::size_t count) {
        using Pack = typename Simd::template Pack<P.lanes>;
        const Range tokens = tokens_of<layout>(first, count, active);
        for (std::size_t g = 0; g < Groups; ++g) {
          gather.template operator()<Pack, P>(g, tokens, workspace.in.data);
          matmul<Simd, P, Packs, rows, In>(
              weights.rows_from(g * rows),
              workspace.input.template convert<Simd, P, Packs, In>(workspace.in.data, 0, count), count,
              StoreProjected<P.width()>{workspace.out.data + g * rows * P.width(), Out * P.width()});
        }
        from_panels<Pack, P, Out>(workspace.out.data, tokens.end - tokens.begin, y + tokens.begin * Out);
      };
      for_panels<layout, last, Tokens, panels_of_pass>(active, pass);
    });
  }
};

}  // namespace LADON_NAMESPACE::detail
