// SPDX-License-Identifier: Apache-2.0
// If the last active panel has few tokens, its tokens become rows: a register then holds features of one token instead
// of one feature of many tokens (products: detail/product/token_rows.hpp). A panel of two packs may have a full first
// pack and few tokens in the second. Then only the tokens of the second pack become rows, or all tokens
// (TokenRowRules::of_whole_panel). A tuple is a 32-bit lane with features of one token (detail/vec/dot.hpp). A register
// of a row has Simd::lanes tuples:
//     panel                 [tuples][width][tuple_size]
//     rows                  [tokens][registers][tuples of a register][tuple_size]        in the memory of the panel
//     rows (two packs)      [tokens][registers][2][tuples of a register][tuple_size]     where the second pack lies
//
// Rows of floats, [tokens][registers][lanes], have their own memory, and the panels stay unchanged.
//
// A quad is four tokens. If a product of quads takes less time (detail/vec/token_quads.hpp), quads replace the rows:
//     [tuples / 4][quads][4 tokens][4 tuples][tuple_size]
//
// The input of a product stores for each panel which tokens are rows, so every product finds the same form.
#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>

#include <ladon/detail/panel/panels.hpp>
#include <ladon/detail/panel/rows.hpp>
#include <ladon/detail/vec/choose.hpp>
#include <ladon/detail/vec/token_quads.hpp>

namespace LADON_NAMESPACE::detail {

template <class Element>
inline constexpr bool has_token_rows = vec::NativeVectors::template token_rows<Element>.exist;

// The tokens `begin` to `end` - 1 of a panel are rows or quads. With packs of `lanes` tokens, {begin, end} is
//     {0, 0}           none: lanes compute the whole panel
//     {0, n}           all n tokens
//     {lanes, n}       the second pack's tokens; lanes compute the first pack
//     {lanes, lanes}   none, and only the first pack has tokens
struct RowsOfPanel {
  std::uint16_t begin = 0, end = 0;
  std::uint16_t quads = 0;  // registers of four tokens each, or 0 if the tokens are rows
};

template <std::size_t Panels>
struct RowsOfPanels {
  RowsOfPanel of[Panels];
  constexpr void set(std::size_t panel, RowsOfPanel rows) noexcept { of[panel] = rows; }
};
struct NoRows {
  constexpr void set(std::size_t, RowsOfPanel) const noexcept {}
};
template <class Element, std::size_t Panels>
using TokenRows = std::conditional_t<has_token_rows<Element>, RowsOfPanels<Panels>, NoRows>;

// A view of panels with their rows. Only matmul reads the rows. If each view had the member `rows`, products of whole
// panels would be slower (layer with 32 tokens of 64 features, 4 heads, bfloat16: 1.03 times the time on Zen 4).
template <class PanelsView>
struct WithTokenRows : PanelsView {
  const RowsOfPanel* rows;

  template <std::size_t Features, std::size_t Width>
  LADON_INLINE constexpr WithTokenRows panels_from(std::size_t first) const noexcept {
    return {PanelsView::template panels_from<Features, Width>(first), rows + first};
  }
  // Rows and quads lie in the memory of the panel.
  template <std::size_t Features, std::size_t Width>
  LADON_INLINE constexpr const auto* row_data(std::size_t panel) const noexcept {
    return PanelsView::template panels_from<Features, Width>(panel).data;
  }
};
// Floats are stored both as panels and as rows, because products of weights whose rows are not contiguous need panels.
template <>
struct WithTokenRows<PanelsView> : PanelsView {
  const RowsOfPanel* rows;
  const float* data_of_rows;  // of the last active panel

  template <std::size_t Features, std::size_t Width>
  LADON_INLINE constexpr WithTokenRows panels_from(std::size_t first) const noexcept {
    return {PanelsView::panels_from<Features, Width>(first), rows + first, data_of_rows};
  }
  template <std::size_t, std::size_t>
  LADON_INLINE constexpr const float* row_data(std::size_t) const noexcept {
    return data_of_rows;
  }
};

// Returns `view`, joined with `rows` if has_token_rows is true.
template <class View, class Rows>
LADON_INLINE constexpr auto with_token_rows(const View& view, [[maybe_unused]] const Rows& rows) noexcept {
  if constexpr (has_token_rows<typename View::Element>) {
    return WithTokenRows<View>{view, rows.of};
  } else {
    return view;
  }
}

// The rows of a panel of the layout P begin at element `offset`, `stride` elements apart. The registers of a row begin
// `spread` registers apart.
template <class Simd, PanelLayout P, class Element, std::size_t Features>
struct TokenRowForm {
  static constexpr std::size_t inner = Features;
  static constexpr bool apart = std::is_same_v<Element, float>;  // rows lie outside the panel
  static constexpr std::size_t tuple_size = sizeof(std::int32_t) / sizeof(Element), register_tuples = Simd::lanes;
  static constexpr std::size_t tuples = (Features + tuple_size - 1) / tuple_size;
  static constexpr std::size_t registers = (tuples + register_tuples - 1) / register_tuples;
  static constexpr bool of_whole_panel = P.packs == 2 && Simd::template token_rows<Element>.of_whole_panel;
  static constexpr std::size_t spread = P.packs == 2 && !apart && !of_whole_panel ? 2 : 1;
  static constexpr std::size_t offset = (spread - 1) * P.lanes * tuple_size;
  static constexpr std::size_t stride = registers * spread * register_tuples * tuple_size;
  // At most `room` rows fit, and up to `faster` rows take less time than `lanes` tokens in lanes. The unit of time is
  // the product of one register. A row takes `whole`, and `overhead` to add the lanes of its sum. In lanes, each token
  // takes `time_of_lanes`: `whole`, or with of_whole_panel a tenth more for converting weights (AVX2 without VNNI).
  static constexpr std::size_t whole = tuples / register_tuples;
  static constexpr std::size_t overhead = of_whole_panel ? 2 : Simd::template token_rows<Element>.overhead_registers;
  static constexpr std::size_t room = apart ? P.width() : tuples * P.width() / (registers * spread * register_tuples);
  static constexpr std::size_t lanes = P.packs == 2 && !of_whole_panel ? P.lanes : P.width();
  static constexpr std::size_t time_of_lanes = of_whole_panel ? whole * 11 / 10 : whole;
  static constexpr std::size_t faster = whole == 0 ? 0 : lanes * time_of_lanes / (whole + overhead);
  // Panels narrower than a register need no rows: folded products multiply them.
  static constexpr bool is_folded = apart && P.lanes < Simd::lanes;
  static constexpr bool too_short = apart && Features < Simd::fewest_row_floats;
  static constexpr std::size_t most_tokens = is_folded || too_short ? 0 : room < faster ? room : faster;
  // Whether rows of weights compete for one set of the L1 cache (tile_rows in detail/product/product_form.hpp).
  static constexpr bool rows_alias = Features * sizeof(Element) % target::Current::aliasing_bytes == 0;
  static constexpr std::size_t quad_steps = (tuples + 3) / 4;
  static constexpr std::size_t room_for_quads = (apart ? most_tokens * stride : tuples * P.width()) / (quad_steps * 16);
  // The largest number of quads that have room, and that the target multiplies.
  static constexpr std::size_t most_quads = [] {
    std::size_t quads = P.lanes == Simd::lanes ? room_for_quads : 0;
    while (quads > 0 && !Simd::template are_quads<Element>(4 * quads)) --quads;
    return quads;
  }();
};

template <class Simd, PanelLayout P, class Element, std::size_t Features>
inline constexpr bool may_have_token_rows = [] {
  if constexpr (has_token_rows<Element> && requires { Simd::template token_rows<Element>; }) {
    return Simd::template token_rows<Element>.exist && P.width() > 1 && (P.packs != 2 || P.lanes == Simd::lanes) &&
           TokenRowForm<Simd, P, Element, Features>::most_tokens > 0;
  }
  return false;
}();

// Returns which of the `tokens` tokens of a panel become rows or quads. If a matrix unit computes the panel, none do:
// the unit takes less time than even two rows.
template <class Simd, PanelLayout P, class Element, std::size_t Features, bool Quads = true>
LADON_INLINE constexpr RowsOfPanel rows_of_tokens(std::size_t tokens) noexcept {
  bool in_unit = false;
  if constexpr (Simd::Unit::template fits<Element, Features, P.lanes>) in_unit = Simd::Unit::ready();
  if constexpr (may_have_token_rows<Simd, P, Element, Features>) {
    using Form = TokenRowForm<Simd, P, Element, Features>;
    constexpr bool quads = Quads && Form::most_quads > 0;
    // If one_tile is true, at most as many tokens as one tile holds become rows. More tokens become quads, or stay in
    // lanes if `are_quads` or `most_quads` forbids quads.
    constexpr std::size_t tile = Simd::template token_rows<Element>.tile_tokens;
    constexpr bool one_tile = quads && tile < Form::most_tokens && Simd::template are_quads<Element>(tile + 3);
    constexpr std::size_t most = one_tile ? tile : Form::most_tokens;
    constexpr std::size_t most_beyond = Simd::template token_rows<Element>.most_beyond_pack;
    const bool fits = !in_unit && tokens <= P.width();
    const std::size_t begin = P.packs == 2 && !Form::of_whole_panel && tokens > P.lanes ? P.lanes : 0;
    const auto rows_from = [&](std::size_t first, std::size_t registers) {
      return RowsOfPanel{static_cast<std::uint16_t>(first), static_cast<std::uint16_t>(tokens),
                         static_cast<std::uint16_t>(registers)};
    };
    if constexpr (quads) {
      const std::size_t first = Form::apart ? begin : 0, registers = (tokens - first + 3) / 4;
      if (fits && registers <= Form::most_quads && Simd::template are_quads<Element>(tokens - first)) {
        return rows_from(first, registers);
      }
    }
    if (fits && tokens - begin <= most && (begin == 0 || tokens - begin <= most_beyond)) return rows_from(begin, 0);
  }
  if (P.halves_panels && tokens <= P.lanes) return {P.lanes, P.lanes};
  return {};
}

// Writes `tokens` tokens of a panel of floats as rows. The last register of a row ends with zeros.
template <class Pack, PanelLayout P, class Form, std::size_t Features>
LADON_NOINLINE void floats_to_rows(const float* panel, std::size_t tokens, float* rows) noexcept {
  from_panels<Pack, P, Features, Form::stride>(panel, tokens, rows);
  for (std::size_t t = 0; t < tokens; ++t) {
    for (std::size_t i = Features; i < Form::stride; ++i) rows[t * Form::stride + i] = 0.0f;
  }
}

template <class Simd, PanelLayout P, std::size_t Features>
LADON_NOINLINE void floats_to_quads(const float* panel, std::size_t quads, float* to) noexcept {
  using Dot = vec::QuadDot<float, typename Simd::template Pack<P.lanes>>;
  for (std::size_t i = 0; i < Features; i += 4) {
    for (std::size_t q = 0; q < quads; ++q, to += P.lanes) {
      if (Features % 4 == 0 || i + 4 <= Features) {
        Dot::gather(panel + i * P.width() + 4 * q, P.width()).store(to);
      } else {
        float rest[16] = {};
        for (std::size_t j = 0; j < 4 * (Features - i); ++j) rest[j] = panel[(i + j / 4) * P.width() + 4 * q + j % 4];
        Dot::gather(rest, 4).store(to);
      }
    }
  }
}

// The destination of a pack's tuples. tuple(i) returns the address of the tuples that begin with feature i, and
// stored(i) must be called after they are stored. In panels, tuples of the same features lie side by side.
template <class Element, std::size_t Width>
struct TuplesOfPanel {
  Element* data;
  LADON_INLINE constexpr Element* tuple(std::size_t i) const noexcept { return data + i * Width; }
  LADON_INLINE constexpr void stored(std::size_t) const noexcept {}
};

// Collects a square of tuples, and transposes the square into rows. The last register of a row ends with zeros.
template <class Pack, class Form, class Element>
struct TuplesOfRows {
  static constexpr std::size_t lanes = Pack::lanes, tuple_size = Form::tuple_size;
  Element* data;       // the row of the first token of the pack
  std::size_t tokens;  // left to write
  alignas(64) Element collected[lanes * lanes * tuple_size]{};

  LADON_INLINE Element* tuple(std::size_t i) noexcept {
    return collected + i / tuple_size % lanes * lanes * tuple_size;
  }
  LADON_INLINE void stored(std::size_t i) noexcept {
    std::size_t last = i / tuple_size;
    if (last % lanes == lanes - 1) store(last - last % lanes);
    if (last + 1 < Form::tuples) return;
    while (++last < Form::registers * Form::register_tuples) {
      for (std::size_t j = 0; j < lanes * tuple_size; ++j) tuple(last * tuple_size)[j] = {};
      if (last % lanes == lanes - 1) store(last - last % lanes);
    }
  }

 private:
  void store(std::size_t first) noexcept {
    constexpr std::size_t whole = Form::register_tuples;
    Pack square[lanes];
    LADON_UNROLLED_FOR(i, lanes) square[i] = Pack::load(reinterpret_cast<const float*>(collected) + i * lanes);
    Pack::transpose(square);
    Element* to = data + (first / whole * whole * Form::spread + first % whole) * tuple_size;
    for (std::size_t t = 0; t < tokens && t < lanes; ++t, to += Form::stride) {
      square[t].store(reinterpret_cast<float*>(to));
    }
  }
};

// Collects four tuples, and writes them as quads. Zeros follow the last tuple.
template <class Pack, class Form, class Element>
struct TuplesOfQuads {
  static constexpr std::size_t lanes = Pack::lanes, tuple_size = Form::tuple_size;
  using Dot = vec::QuadDot<Element, Pack>;
  Element* data;      // the first register of the pack
  std::size_t quads;  // of all packs together
  std::size_t of_pack;
  alignas(64) Element collected[4 * lanes * tuple_size]{};

  LADON_INLINE Element* tuple(std::size_t i) noexcept { return collected + i / tuple_size % 4 * lanes * tuple_size; }
  LADON_INLINE void stored(std::size_t i) noexcept {
    const std::size_t number = i / tuple_size, place = number % 4;
    if (place < 3 && number + 1 < Form::tuples) return;
    for (std::size_t j = (place + 1) * lanes * tuple_size; j < 4 * lanes * tuple_size; ++j) collected[j] = {};
    const auto* const words = reinterpret_cast<const float*>(collected);
    auto* const to = reinterpret_cast<float*>(data) + number / 4 * quads * lanes;
    for (std::size_t q = 0; q < of_pack; ++q) Dot::gather(words + 4 * q, lanes).store(to + q * lanes);
  }
};

// Calls convert(first, to) for each pack of tokens of `in_rows`. `first` is the first token of the pack. `to` is a
// TuplesOfRows or TuplesOfQuads, which writes to `data`, the memory of the panel.
template <class Pack, PanelLayout P, class Form, class Element>
LADON_INLINE void for_packs_of_rows(RowsOfPanel in_rows, Element* data, auto convert) noexcept {
  for (std::size_t t = in_rows.begin; t < in_rows.end; t += P.lanes) {
    const std::size_t done = t - in_rows.begin;
    if constexpr (Form::most_quads > 0) {
      if (in_rows.quads > 0) {
        const std::size_t left = in_rows.quads - done / 4;
        convert(t, TuplesOfQuads<Pack, Form, Element>{data + done / 4 * P.lanes * Form::tuple_size, in_rows.quads,
                                                      left < P.lanes / 4 ? left : P.lanes / 4});
        continue;
      }
    }
    convert(t, TuplesOfRows<Pack, Form, Element>{data + Form::offset + done * Form::stride, in_rows.end - t});
  }
}

}  // namespace LADON_NAMESPACE::detail
