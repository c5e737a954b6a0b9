// SPDX-License-Identifier: Apache-2.0
// Panels are arrays of activations. In a panel, each token has its own lane of a vector register.
//     row-major  [tokens][features]           the layout of the caller's arrays
//     panels     [panels][features][width]    the layout of the kernels' arrays
//
// A panel holds `width` tokens side by side. One load of a vector register reads one feature of several tokens. All
// features of a token are in the same lane. The last panel may have lanes without a token. to_panels sets these lanes
// to 0. The kernels compute the lanes without a token like all other lanes, but from_panels does not store these lanes.
//
// The last panel of a sequence has its own layout, because it may have far fewer tokens than the other panels. Example
// on AVX-512: 99 tokens are three panels of 32 tokens, and a last panel of 3 tokens in 4 lanes. The function
// last_panel_layout (detail/vec/choose.hpp) chooses the layout of the last panel.
//
// A panel that is narrower than a register, or one and a half registers wide, would leave lanes idle. Folded kernels
// (detail/product/folded_tile.hpp) therefore use several lanes for each token. The lanes hold partial sums,
// which are added at the end.
//
// Terms of the kernels:
//     pack          a vector of floats, usually one vector register; an element is a lane (detail/vec/array.hpp)
//     tile          the part of a product that a kernel computes at a time, in registers
//                   (detail/target/layout.hpp)
//     step          the work for one value of the inner index of a product
//     query block   the queries of one panel
//     key block     consecutive keys that the attention kernels process at a time (`key_block` below)
#pragma once

#include <cstddef>

#include <ladon/detail/panel/range.hpp>
#include <ladon/detail/panel/thread_share.hpp>
#include <ladon/detail/vec/choose.hpp>
#include <ladon/shape.hpp>

namespace LADON_NAMESPACE {

// Storage for Tokens tokens in panels.
template <std::size_t Tokens, std::size_t Features, detail::PanelLayout T>
struct alignas(64) Panels {
  static constexpr std::size_t stride = Features * T.width();  // how many floats a panel has
  float data[T.panels(Tokens) * stride];
};

namespace detail {

// A view of panels [panels][features][width].
struct PanelsView {
  const float* data;

  // Returns the panels from panel `first` on.
  template <std::size_t Features, std::size_t Width>
  LADON_INLINE constexpr PanelsView panels_from(std::size_t first) const noexcept {
    return {data + first * Features * Width};
  }
};

// How many keys a key block has: 256, unless LADON_KEY_BLOCK has another value. The attention kernels compute the
// scores, the weights and the weighted values of one key block, and then begin the next key block. A smaller key block
// makes the workspace smaller.
//
// The size of a key block has little influence on the speed, so it was chosen for little memory. For key blocks of 64
// to 1024 keys, attention of 1024 tokens with 512 features in 8 heads varies by at most one percentage point of peak
// FMA throughput (Zen 5).
inline constexpr std::size_t key_block = LADON_KEY_BLOCK;
static_assert(key_block > 0 && key_block % 32 == 0,
              "ladon: LADON_KEY_BLOCK is a multiple of 32, so that blocks end where panels of any width do");

// Describes the panels and the key blocks of a shape.
template <Shape S, class Vectors>
struct ShapeLayout {
  static constexpr PanelLayout queries = panel_layout<Vectors>(S.queries, S.model);
  static constexpr PanelLayout keys = panel_layout<Vectors>(S.keys, S.model);
  // The layouts of the last panel: last_queries for queries, and last_keys for the tokens from which keys and values
  // are projected. The projected keys and values have the layout `keys` in the last panel, too.
  static constexpr PanelLayout last_queries = last_panel_layout<Vectors>(S.queries, S.model);
  static constexpr PanelLayout last_keys = last_panel_layout<Vectors>(S.keys, S.model);
  // `block` is the number of keys in a key block of this shape: whole panels with at most detail::key_block keys. If
  // the shape has fewer keys, `block` is all keys.
  //
  // With a single query, one key block holds all keys (`all_at_once`, detail/attention/single.hpp). There are two
  // exceptions: a deterministic build, and panels of keys with one lane. In both cases, key blocks are as large as for
  // several queries.
  static constexpr std::size_t all_keys = keys.panels(S.keys) * keys.width();
  static constexpr bool all_at_once = queries.width() == 1 && keys.lanes > 1 && !LADON_DETERMINISTIC;
  static constexpr std::size_t block =
      all_keys < key_block || all_at_once ? all_keys : key_block / keys.width() * keys.width();
  static_assert(block == key_block || S.keys <= block, "ladon: where sums end must not depend on how wide panels are");
  // For a single query, the kernels compute several query heads of a group at the same time: at most heads_together
  // (detail/attention/single.hpp). Each of these heads has its own query, scores and sums. There are at most 256
  // sums per lane, so the stack of the call stays below 40 KB, and the sums stay in the L1 cache.
  static constexpr std::size_t allowed_heads = 256 / S.value_width;
  static constexpr std::size_t most_heads_together = !all_at_once || allowed_heads == 0 ? 1
                                                     : allowed_heads < target::Current::single_query_heads
                                                         ? allowed_heads
                                                         : target::Current::single_query_heads;
  static constexpr std::size_t heads_together =
      S.heads_per_group() < most_heads_together ? S.heads_per_group() : most_heads_together;
  // `widened_block` is the number of keys that are converted to floats in memory at a time, if keys and values come
  // from a bfloat16 or int8 cache. Normally, this is a key block. For a single query, it is one panel: the kernels
  // convert in registers, and only the capture of scores and constant evaluation convert in memory.
  static constexpr std::size_t widened_block = all_at_once ? keys.width() : block;
};

// Returns how many parts a phase of a call has. The threads of a call divide the parts among themselves (threads.hpp),
// so with more threads than parts, some threads have no work.
//
// Odd phases compute attention, so their parts are the heads of keys and values. Even phases convert the input or
// compute the output, so their parts are panels. In phase 0, a call may convert both queries and keys. The number of
// parts is then the number of panels of queries or of keys, whichever is greater.
template <Shape S, class Vectors>
constexpr std::size_t parts_of_phase(std::size_t phase) noexcept {
  using L = ShapeLayout<S, Vectors>;
  const std::size_t queries = L::queries.panels(S.queries), keys = L::keys.panels(S.keys);
  if (phase % 2 == 1) return S.kv_heads;
  return phase == 0 && keys > queries ? keys : queries;
}

// Returns the range of the active tokens in `count` panels of the layout T, from panel `first` on. `active` is the
// number of active tokens in all panels.
template <PanelLayout T>
LADON_INLINE constexpr Range tokens_of(std::size_t first, std::size_t count, std::size_t active) noexcept {
  return Range{first * T.width(), (first + count) * T.width()} & Range{0, active};
}

}  // namespace detail

// Calls f.operator()<P, Packs>(first, count) for ranges of panels. A range has `count` panels, from panel `first` on.
// All panels of a range have the layout P, and the tokens of each panel fill Packs packs. P is T or Last: T is the
// layout of the full panels, and also sets the distance from panel to panel in memory.
//
// The full panels come first, with P = T. A range has at most `Most` panels. If the last panel of the shape has another
// layout (Last) or fewer packs, it is a separate range, with P = Last. Only the first `active` tokens are active.
// Panels without an active token are skipped, and so are panels that do not belong to `share`.
template <detail::PanelLayout T, detail::PanelLayout Last, std::size_t Tokens, std::size_t Most = all, class F,
          class CallShare = detail::WholeCall>
LADON_INLINE constexpr void for_panels(std::size_t active, F f, CallShare share = {}) noexcept {
  constexpr std::size_t panels = T.panels(Tokens);
  constexpr std::size_t last_packs = Last.packs_for(Tokens - (panels - 1) * T.width());
  constexpr bool all_whole = Last == T && last_packs == T.packs;
  constexpr std::size_t whole = all_whole ? panels : panels - 1;
  const Range wanted = share.of(T.panels(active));
  if constexpr (whole > 0) {
    const Range first = wanted & Range{0, whole};
    if constexpr (Most < whole) {
      for (std::size_t p = first.begin; p < first.end; p += Most) {
        f.template operator()<T, T.packs>(p, first.end - p < Most ? first.end - p : Most);
      }
    } else {
      // If `share` is the whole call, `count` is not tested, and `f` is called even if `count` is 0. With a test, g++
      // would inline other functions into `f`, and attention of 64 tokens with 128 features in 4 heads would lose one
      // percentage point of peak FMA throughput.
      if (CallShare::whole || first.begin < first.end) {
        f.template operator()<T, T.packs>(first.begin, first.end - first.begin);
      }
    }
  }
  if constexpr (!all_whole) {
    if (wanted.begin < wanted.end && wanted.end == panels) {
      f.template operator()<Last, last_packs>(whole, std::size_t(1));
    }
  }
}

// Converts `rows` [tokens][Features] into panels of the layout T. The function loads squares of lanes x lanes floats
// and transposes each square in registers.
template <class Pack, detail::PanelLayout T, std::size_t Features>
constexpr void to_panels(const float* rows, std::size_t tokens, float* panels) noexcept {
  constexpr std::size_t lanes = Pack::lanes;
  for (std::size_t t = 0; t < T.panels(tokens) * T.width(); t += lanes) {
    float* const panel = panels + t / T.width() * T.width() * Features + t % T.width();
    for (std::size_t i = 0; i < Features; i += lanes) {
      const std::size_t count = Features % lanes == 0 || Features - i >= lanes ? lanes : Features - i;
      Pack square[lanes];
      LADON_UNROLL
      for (std::size_t r = 0; r < lanes; ++r) {
        if (t + r >= tokens) {
          square[r] = Pack::broadcast(0.0f);
          continue;
        }
        const float* const from = rows + (t + r) * Features + i;
        square[r] = count == lanes ? Pack::load(from) : Pack::load_partial(from, count);
      }
      Pack::transpose(square);
      LADON_UNROLL
      for (std::size_t c = 0; c < lanes; ++c) {
        if (c < count) square[c].store(panel + (i + c) * T.width());
      }
    }
  }
}

// Converts panels of the layout T into `rows` [tokens][Features]. Lanes without a token are not stored.
template <class Pack, detail::PanelLayout T, std::size_t Features>
constexpr void from_panels(const float* panels, std::size_t tokens, float* rows) noexcept {
  constexpr std::size_t lanes = Pack::lanes;
  for (std::size_t t = 0; t < tokens; t += lanes) {
    const float* const panel = panels + t / T.width() * T.width() * Features + t % T.width();
    for (std::size_t i = 0; i < Features; i += lanes) {
      const std::size_t count = Features % lanes == 0 || Features - i >= lanes ? lanes : Features - i;
      Pack square[lanes];
      LADON_UNROLL
      for (std::size_t c = 0; c < lanes; ++c) {
        square[c] = c < count ? Pack::load(panel + (i + c) * T.width()) : Pack::broadcast(0.0f);
      }
      Pack::transpose(square);
      LADON_UNROLL
      for (std::size_t r = 0; r < lanes; ++r) {
        if (t + r >= tokens) continue;
        float* const to = rows + (t + r) * Features + i;
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
