// SPDX-License-Identifier: Apache-2.0
// Panels are arrays of activations in which each token has its own lane of a vector register:
//     row-major  [tokens][features]           the layout of the caller's arrays
//     panels     [panels][features][width]    the layout of the kernels' arrays
//
// The last panel has its own layout. On AVX-512, 96 of 99 tokens fill three panels, and the other 3 get a panel of 4
// lanes. A pack is a vector of floats, usually one register. A tile is the part of a product that a kernel computes at
// a time, in registers. A key block is `key_block` consecutive keys.
#pragma once

#include <cstddef>

#include <ladon/detail/panel/call_checks.hpp>
#include <ladon/detail/panel/rows.hpp>
#include <ladon/detail/vec/choose.hpp>
#include <ladon/shape.hpp>

namespace LADON_NAMESPACE {

template <std::size_t Tokens, std::size_t Features, detail::PanelLayout T>
struct alignas(64) Panels {
  static constexpr std::size_t stride = Features * T.width();  // how many floats a panel has
  float data[T.panels(Tokens) * stride];
};

namespace detail {

struct PanelsView {
  using Element = float;
  // WithTokenRows (detail/panel/token_rows.hpp) inherits this name for its view without rows of tokens.
  using Lanes = PanelsView;
  const float* data;

  template <std::size_t Features, std::size_t Width>
  LADON_INLINE constexpr PanelsView panels_from(std::size_t first) const noexcept {
    return {data + first * Features * Width};
  }
};

// With sizes from 64 to 1024, the speed differs by one percentage point of peak (1024 tokens of 512 features, 8 heads;
// Zen 5).
inline constexpr std::size_t key_block = LADON_KEY_BLOCK;
static_assert(key_block > 0 && key_block % 32 == 0,
              "ladon: LADON_KEY_BLOCK is a multiple of 32, so that blocks end where panels of any width do");

template <Shape S, class Vectors>
struct ShapeLayout {
  static constexpr PanelLayout queries = panel_layout<Vectors>(S.queries);
  static constexpr PanelLayout keys = panel_layout<Vectors>(S.keys);
  // The last panel of the context has the layout last_keys. All panels of keys and values have the layout `keys`.
  static constexpr PanelLayout last_queries = last_panel_layout<Vectors>(S.queries);
  static constexpr PanelLayout last_keys = last_panel_layout<Vectors>(S.keys);
  // With a single query, a key block holds all keys, unless the build is deterministic or `keys` has one lane.
  static constexpr std::size_t all_keys = keys.panels(S.keys) * keys.width();
  static constexpr bool all_at_once = queries.width() == 1 && keys.lanes > 1 && !LADON_DETERMINISTIC;
  static constexpr std::size_t block =
      all_keys < key_block || all_at_once ? all_keys : key_block / keys.width() * keys.width();
  static_assert(block == key_block || S.keys <= block, "ladon: where sums end must not depend on how wide panels are");
  // Heads that a single query computes together: with at most 256 sums per lane, the stack stays below 40 KB.
  static constexpr std::size_t allowed_heads = 256 / S.value_width;
  static constexpr std::size_t most_heads_together = !all_at_once || allowed_heads == 0 ? 1
                                                     : allowed_heads < target::Current::single_query_heads
                                                         ? allowed_heads
                                                         : target::Current::single_query_heads;
  static constexpr std::size_t heads_together =
      S.heads_per_group() < most_heads_together ? S.heads_per_group() : most_heads_together;
  // How many keys of a bfloat16 or int8 cache are converted to floats in memory at a time. The kernels of a single
  // query convert keys in registers. They need this memory only to capture scores, and in constant evaluation.
  static constexpr std::size_t widened_block = all_at_once ? keys.width() : block;
};

// Returns how many parts a phase has (threads.hpp). An odd phase has a part for each head of keys and values. An even
// phase has a part for each panel of queries. Phase 0 has a part for each panel of keys if keys have more panels
// than queries.
template <Shape S, class Vectors>
constexpr std::size_t parts_of_phase(std::size_t phase) noexcept {
  using L = ShapeLayout<S, Vectors>;
  const std::size_t queries = L::queries.panels(S.queries), keys = L::keys.panels(S.keys);
  if (phase % 2 == 1) return S.kv_heads;
  return phase == 0 && keys > queries ? keys : queries;
}

template <PanelLayout T>
LADON_INLINE constexpr Range tokens_of(std::size_t first, std::size_t count, std::size_t active) noexcept {
  return Range{first * T.width(), (first + count) * T.width()} & Range{0, active};
}

}  // namespace detail

// Calls f.operator()<P, Packs>(first, count) for ranges of at most `Most` panels with the layout P, whose first Packs
// packs hold tokens. Full panels have P = T. The last panel follows with P = Last, if its layout or its number of packs
// differs. All panels are as far apart in memory as panels of layout T. Skips panels outside `share`, and panels that
// hold none of the first `active` tokens. With Halves, the last active panel of layout T has Packs = T.packs / 2 if all
// its active tokens are in its first half.
template <detail::PanelLayout T, detail::PanelLayout Last, std::size_t Tokens, std::size_t Most = all,
          bool Halves = T.halves_panels, class CallShare = detail::WholeCall>
LADON_INLINE constexpr void for_panels(std::size_t active, auto f, CallShare share = {}) noexcept {
  constexpr std::size_t panels = T.panels(Tokens);
  constexpr std::size_t last_packs = Last.packs_for(Tokens - (panels - 1) * T.width());
  constexpr bool all_whole = Last == T && last_packs == T.packs;
  constexpr std::size_t whole = all_whole ? panels : panels - 1;
  const Range wanted = share.of(T.panels(active));
  if constexpr (whole > 0) {
    Range first = wanted & Range{0, whole};
    [[maybe_unused]] bool halves = false;
    if constexpr (Halves) {
      halves = first.begin < first.end && active <= first.end * T.width() - T.width() / 2;
      first.end -= halves ? 1 : 0;
    }
    if constexpr (Most < whole) {
      for (std::size_t p = first.begin; p < first.end; p += Most) {
        f.template operator()<T, T.packs>(p, first.end - p < Most ? first.end - p : Most);
      }
    } else {
      // Whole calls skip the test. With the test, g++ inlines other functions into `f`, which costs 1% of peak (64
      // tokens of 128 features, 4 heads), and a fifth more code for int8 layers (Cortex-M55).
      if ((CallShare::whole && !Halves) || first.begin < first.end) {
        f.template operator()<T, T.packs>(first.begin, first.end - first.begin);
      }
    }
    if constexpr (Halves) {
      if (halves) f.template operator()<T, T.packs / 2>(first.end, std::size_t(1));
    }
  }
  if constexpr (!all_whole) {
    if (wanted.begin < wanted.end && wanted.end == panels) {
      f.template operator()<Last, last_packs>(whole, std::size_t(1));
    }
  }
}

// Calls f.operator()<P, Packs>(p, tokens) for each panel p of for_panels, and its active tokens.
template <detail::PanelLayout T, detail::PanelLayout Last, std::size_t Tokens>
LADON_INLINE constexpr void for_each_panel(std::size_t active, auto f) noexcept {
  const auto run = [&]<detail::PanelLayout P, std::size_t Packs>(std::size_t first, std::size_t count) {
    for (std::size_t p = first; p < first + count; ++p)
      f.template operator()<P, Packs>(p, detail::tokens_of<T>(p, 1, active));
  };
  for_panels<T, Last, Tokens>(active, run);
}

template <class Pack, detail::PanelLayout T, std::size_t Features>
constexpr void to_panels(const float* rows, std::size_t tokens, float* panels) noexcept {
  constexpr std::size_t lanes = Pack::lanes;
  for (std::size_t t = 0; t < T.panels(tokens) * T.width(); t += lanes) {
    float* const panel = panels + t / T.width() * T.width() * Features + t % T.width();
    for (std::size_t i = 0; i < Features; i += lanes) {
      const std::size_t count = Features % lanes == 0 || Features - i >= lanes ? lanes : Features - i;
      const float* const from = t < tokens ? rows + t * Features + i : rows;  // nothing is read beyond the last token
      Pack square[lanes];
      detail::load_transposed(from, Features, t, tokens, count, square);
      LADON_UNROLLED_FOR(c, lanes) {
        if (c < count) square[c].store(panel + (i + c) * T.width());
      }
    }
  }
}

// The rows are Stride floats apart.
template <class Pack, detail::PanelLayout T, std::size_t Features, std::size_t Stride = Features>
constexpr void from_panels(const float* panels, std::size_t tokens, float* rows) noexcept {
  constexpr std::size_t lanes = Pack::lanes;
  for (std::size_t t = 0; t < tokens; t += lanes) {
    const float* const panel = panels + t / T.width() * T.width() * Features + t % T.width();
    for (std::size_t i = 0; i < Features; i += lanes) {
      const std::size_t count = Features % lanes == 0 || Features - i >= lanes ? lanes : Features - i;
      Pack square[lanes];
      LADON_UNROLLED_FOR(c, lanes) {
        square[c] = c < count ? Pack::load(panel + (i + c) * T.width()) : Pack::broadcast(0.0f);
      }
      Pack::transpose(square);
      LADON_UNROLLED_FOR(r, lanes) {
        if (t + r >= tokens) continue;
        float* const to = rows + (t + r) * Stride + i;
        if (count == lanes) {
          square[r].store(to);
        } else {
          square[r].store_partial(to, count);
        }
      }
    }
  }
}

}  // namespace LADON_NAMESPACE
