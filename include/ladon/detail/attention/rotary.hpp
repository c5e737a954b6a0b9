// SPDX-License-Identifier: Apache-2.0
// Applies the rotary position embedding (position.hpp) to the features of one head. The features (x, y) of a pair
// become (x cos - y sin, x sin + y cos).
#pragma once

#include <cstddef>

#include <ladon/checks.hpp>
#include <ladon/detail/panel/panels.hpp>
#include <ladon/detail/vec/choose.hpp>
#include <ladon/position.hpp>

namespace LADON_NAMESPACE::detail {

// Rotates the first `tokens` tokens of `panel` [head width][Width] in place. The token in lane t has the position
// `data.offset` + `position` + t.
template <class Position, class Pack, std::size_t Packs, std::size_t Width, std::size_t HeadWidth>
constexpr void apply_rotary(const typename Position::Data& data, std::ptrdiff_t position, std::size_t tokens,
                            float* panel) noexcept {
  static_assert(Position::width <= HeadWidth, "ladon: rotary embedding turns more features than a head has");
  if constexpr (Position::optional) {
    if (data.table == nullptr) return;
  }
  LADON_EXPECTS(data.table != nullptr, "ladon: position::Rotary needs a table: options.position.table",
                caller_of(data));
  const typename Position::Table& table = *data.table;
  const std::ptrdiff_t start = static_cast<std::ptrdiff_t>(data.offset) + position;
  LADON_EXPECTS(start >= 0, "ladon: rotary embedding has no position before the first", caller_of(data),
                {{"position", start}});
  const auto first = static_cast<std::size_t>(start);
  LADON_EXPECTS(first + tokens <= Position::positions, "ladon: the rotary table ends before these positions",
                caller_of(data),
                {{"first position", first}, {"tokens", tokens}, {"positions of the table", Position::positions}});
  constexpr std::size_t half = Position::width / 2;
  constexpr bool neighbours = Position::pairing == Pairing::neighbours;
  for (std::size_t v = 0; v < Packs && v * Pack::lanes < tokens; ++v) {
    const std::size_t at = first + v * Pack::lanes;
    // Lanes without a token load 0, because the table may end before their positions.
    const std::size_t used = tokens - v * Pack::lanes < Pack::lanes ? tokens - v * Pack::lanes : Pack::lanes;
    const auto load = [&](const float* from) {
      return used == Pack::lanes ? Pack::load(from + at) : Pack::load_partial(from + at, used);
    };
    for (std::size_t pair = 0; pair < half; ++pair) {
      float* const a = panel + (neighbours ? 2 * pair : pair) * Width + v * Pack::lanes;
      float* const b = a + (neighbours ? 1 : half) * Width;
      const Pack cosine = load(table.cosine[pair]), sine = load(table.sine[pair]);
      const Pack x = Pack::load(a), y = Pack::load(b);
      (x * cosine - y * sine).store(a);
      fma(x, sine, y * cosine).store(b);
    }
  }
}

// Rotates the first `active` keys K^T [panels][head width][T.width()] of a head. Key j has the position `data.offset` +
// j.
template <class Position, class Pack, PanelLayout T, std::size_t Keys, std::size_t HeadWidth>
constexpr void apply_rotary_to_keys(const typename Position::Data& data, std::size_t active, float* keys) noexcept {
  for_panels<T, T, Keys>(active, [&]<PanelLayout, std::size_t Packs>(std::size_t first, std::size_t count) {
    for (std::size_t p = first; p < first + count; ++p) {
      const std::size_t begin = p * T.width();
      const std::size_t tokens = active - begin < T.width() ? active - begin : T.width();
      apply_rotary<Position, Pack, Packs, T.width(), HeadWidth>(data, static_cast<std::ptrdiff_t>(begin), tokens,
                                                                keys + begin * HeadWidth);
    }
  });
}

}  // namespace LADON_NAMESPACE::detail
