// SPDX-License-Identifier: Apache-2.0
// Defines PanelLayout: how many tokens a panel holds, and how many rows a tile has. A tile is the part of a matrix
// product that a kernel computes at a time, with all sums in registers. The file of each instruction set in this folder
// chooses panels and tiles together, because both must fit into the registers. In the comments of this folder, "2 x 12"
// means a tile of 2 packs and 12 rows.
#pragma once

#include <cstddef>

#include <ladon/detail/build/abi.hpp>

namespace LADON_NAMESPACE::detail {

// A panel (detail/panel/panels.hpp) holds lanes * packs tokens side by side. A pack is a vector register of `lanes`
// floats. A tile computes `tile_rows` outputs of these tokens, in tile_rows * packs accumulators.
//
// A panel of several packs may also need tiles of one pack, for example for scores under a causal mask
// (detail/attention/scores.hpp). With `tile_rows` rows, such a tile would have too few accumulators to hide the latency
// of a multiply-add. If registers allow, tiles of one pack therefore have more rows (`tile_rows_of_one_pack`).
struct PanelLayout {
  std::size_t lanes;
  std::size_t packs;
  std::size_t tile_rows;
  std::size_t tile_rows_of_one_pack = tile_rows;
  // How many lanes of a panel of one pack may hold tokens. The other lanes never hold tokens. Int8 products skip the
  // other lanes on targets where this saves instructions (detail/product/product_int8.hpp).
  std::size_t used_lanes = lanes;

  // Returns how many tokens a panel holds.
  constexpr std::size_t width() const noexcept { return lanes * packs; }
  // Returns how many panels hold `tokens` tokens.
  constexpr std::size_t panels(std::size_t tokens) const noexcept { return (tokens + width() - 1) / width(); }
  // Returns how many rows a tile of `tile_packs` packs has.
  constexpr std::size_t tile_rows_for(std::size_t tile_packs) const noexcept {
    return tile_packs == 1 ? tile_rows_of_one_pack : tile_rows;
  }
  // Returns how many packs `tokens` tokens of one panel fill.
  constexpr std::size_t packs_for(std::size_t tokens) const noexcept { return (tokens + lanes - 1) / lanes; }
  constexpr bool operator==(const PanelLayout&) const = default;
};

}  // namespace LADON_NAMESPACE::detail
