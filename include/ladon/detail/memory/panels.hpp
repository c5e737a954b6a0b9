// Panels: activations with tokens in the lanes.
//
//     row-major  [tokens][features]           the layout of the caller's arrays
//     panels     [panels][features][width]    the layout of the kernels' arrays
//
// A panel holds `width` tokens side by side. One load reads the same feature of several tokens, and all numbers of a
// token stay in the token's lane. The last panel may have lanes without a token. These lanes start as zeros. The
// kernels compute these lanes like all others, but never store them in rows.
//
// There is one exception. If a panel of a few tokens is narrower than a register, micro_kernel_folded.hpp uses the idle
// lanes for partial sums, and adds the partial sums at the end.
#pragma once

#include <cstddef>

#include <ladon/detail/memory/call_part.hpp>
#include <ladon/detail/memory/range.hpp>
#include <ladon/detail/simd/vectors.hpp>
#include <ladon/shape.hpp>

namespace ladon::inline LADON_ABI {

// Storage for the panels of Tokens tokens.
template <std::size_t Tokens, std::size_t Features, detail::Tiling T>
struct alignas(64) Panels {
  static constexpr std::size_t stride = Features * T.width();  // floats from one panel to the next
  float data[T.panels(Tokens) * stride];
};

namespace detail {

// The number of keys in a key block. The scores of a key block are computed, converted into weights and used in the
// weighted sum before the next key block begins. The size of a key block limits the workspace of long rows. With 64 to
// 1024 keys, the speed at (1024,512,8) differs by at most one point of peak (Zen 5). Memory is therefore the criterion
// for the size.
inline constexpr std::size_t key_block = LADON_KEY_BLOCK;
static_assert(key_block > 0 && key_block % 32 == 0,
              "ladon: LADON_KEY_BLOCK is a multiple of 32, so that blocks end where panels of any width do");

// The widths of a shape's panels of queries and of keys, and the size of the shape's key blocks.
template <Shape S, class Target>
struct PanelLayout {
  static constexpr Tiling queries = tiling<Target>(S.queries);
  static constexpr Tiling keys = tiling<Target>(S.keys);
  // The number of keys in a key block of this shape, in whole panels: at most key_block keys, or all keys if there are
  // fewer. A single query has one key block of all keys, because the kernels of a single query add in another order. In
  // a deterministic build, a single query has the same key blocks as several queries.
  static constexpr std::size_t all_keys = keys.panels(S.keys) * keys.width();
  static constexpr bool all_at_once = queries.width() == 1 && !LADON_DETERMINISTIC;
  static constexpr std::size_t block =
      all_keys < key_block || all_at_once ? all_keys : key_block / keys.width() * keys.width();
  static_assert(block == key_block || S.keys <= block, "ladon: where sums end must not depend on how wide panels are");
};

// Returns the largest number of shares of a phase that have work. Odd phases compute attention, which is divided into
// groups of heads. Even phases convert the input or compute the output, which are divided into panels. In phase 0, both
// the panels of queries and the panels of keys count.
template <Shape S, class Target>
constexpr std::size_t parts_of_phase(std::size_t phase) noexcept {
  using L = PanelLayout<S, Target>;
  const std::size_t queries = L::queries.panels(S.queries), keys = L::keys.panels(S.keys);
  if (phase % 2 == 1) return S.kv_heads;
  return phase == 0 && keys > queries ? keys : queries;
}

}  // namespace detail

// Calls f.operator()<Packs>(first, count) for groups of panels. A group is the `count` panels from `first` on, and each
// panel of the group needs Packs packs. The whole panels come first, in groups of at most Most panels. If the shape's
// last panel needs fewer packs, the last panel is a separate group. Panels are visited if they hold one of the first
// `active` tokens and belong to `part`.
template <detail::Tiling T, std::size_t Tokens, std::size_t Most = all, class F, class Part = detail::WholeCall>
LADON_INLINE constexpr void for_panels(std::size_t active, F f, Part part = {}) noexcept {
  constexpr std::size_t panels = T.panels(Tokens);
  constexpr bool all_whole = T.last_packs(Tokens) == T.packs;
  constexpr std::size_t whole = all_whole ? panels : panels - 1;
  const Range wanted = part.of(T.panels(active));
  if constexpr (whole > 0) {
    const Range first = wanted & Range{0, whole};
    if constexpr (Most < whole) {
      for (std::size_t p = first.begin; p < first.end; p += Most) {
        f.template operator()<T.packs>(p, first.end - p < Most ? first.end - p : Most);
      }
    } else {
      // WholeCall calls `f` even with a count of 0. A branch on the count changes what g++ inlines into `f` (one point
      // of peak less at (64,128,4)).
      if (Part::whole || first.begin < first.end) f.template operator()<T.packs>(first.begin, first.end - first.begin);
    }
  }
  if constexpr (!all_whole) {
    if (wanted.begin < wanted.end && wanted.end == panels) {
      f.template operator()<T.last_packs(Tokens)>(whole, std::size_t(1));
    }
  }
}

// Converts `rows` [tokens][Features] into panels, for the panels that belong to `part`. Squares of lanes x lanes floats
// are transposed in registers.
template <class Pack, detail::Tiling T, std::size_t Features, class Part = detail::WholeCall>
constexpr void to_panels(const float* rows, std::size_t tokens, float* panels, Part part = {}) noexcept {
  constexpr std::size_t lanes = Pack::lanes;
  const Range wanted = part.of(T.panels(tokens));
  for (std::size_t t = wanted.begin * T.width(); t < wanted.end * T.width(); t += lanes) {
    float* const panel = panels + t / T.width() * T.width() * Features + t % T.width();
    for (std::size_t i = 0; i < Features; i += lanes) {
      const std::size_t count = Features - i < lanes ? Features - i : lanes;
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

// Converts the panels that belong to `part` into `rows` [tokens][Features]. Lanes without a token are not stored.
template <class Pack, detail::Tiling T, std::size_t Features, class Part = detail::WholeCall>
constexpr void from_panels(const float* panels, std::size_t tokens, float* rows, Part part = {}) noexcept {
  constexpr std::size_t lanes = Pack::lanes;
  const Range wanted = part.of(T.panels(tokens));
  const std::size_t end = wanted.end * T.width() < tokens ? wanted.end * T.width() : tokens;
  for (std::size_t t = wanted.begin * T.width(); t < end; t += lanes) {
    const float* const panel = panels + t / T.width() * T.width() * Features + t % T.width();
    for (std::size_t i = 0; i < Features; i += lanes) {
      const std::size_t count = Features - i < lanes ? Features - i : lanes;
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

}  // namespace ladon::inline LADON_ABI
