// Panels: activations with tokens in the lanes.
//
//     row-major  [tokens][features]           the caller's
//     panels     [panels][features][width]    the kernels'
//
// `width` tokens lie side by side, so one load reads a feature of all of them, and the numbers of a token stay in the
// token's lane. The last panel may be partly filled. Its other lanes begin as zeros; whatever they become stays in
// these lanes and is never stored in rows.
//
// One exception: panels of a few tokens are narrower than a register. Then micro_kernel_folded.hpp uses the idle lanes
// for parts of a sum, and adds the parts at the end.
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
  static constexpr std::size_t stride = Features * T.width();  // from a panel to the next
  float data[T.panels(Tokens) * stride];
};

namespace detail {

// Keys of a long row that are scored, turned into weights and summed before the next keys. The block bounds the
// workspace of a long row. From 64 to 1024 keys the speed at (1024,512,8) is equal within a point of peak (Zen 5), so
// memory decides.
inline constexpr std::size_t key_block = LADON_KEY_BLOCK;
static_assert(key_block > 0 && key_block % 32 == 0,
              "ladon: LADON_KEY_BLOCK is a multiple of 32, so that blocks end where panels of any width do");

// The panels of a shape's queries and keys.
template <Shape S, class Target>
struct PanelLayout {
  static constexpr Tiling queries = tiling<Target>(S.queries);
  static constexpr Tiling keys = tiling<Target>(S.keys);
  // Keys of a key block: whole panels, at most key_block keys, or all keys if there are fewer. A single query takes all
  // keys at once, unless the build is deterministic, because its sums have another order.
  static constexpr std::size_t all_keys = keys.panels(S.keys) * keys.width();
  static constexpr bool all_at_once = queries.width() == 1 && !LADON_DETERMINISTIC;
  static constexpr std::size_t block =
      all_keys < key_block || all_at_once ? all_keys : key_block / keys.width() * keys.width();
  static_assert(block == key_block || S.keys <= block, "ladon: where sums end must not depend on how wide panels are");
};

// Returns the largest number of shares of a phase that have work: panels in the phases that read x and write y, groups
// of heads in the phases between.
template <Shape S, class Target>
constexpr std::size_t parts_of_phase(std::size_t phase) noexcept {
  using L = PanelLayout<S, Target>;
  const std::size_t queries = L::queries.panels(S.queries), keys = L::keys.panels(S.keys);
  if (phase % 2 == 1) return S.kv_heads;
  return phase == 0 && keys > queries ? keys : queries;
}

}  // namespace detail

// Calls f.operator()<Packs>(first, count) for `count` panels from `first` on that need Packs packs each: first the
// whole panels, at most Most of them in a call, then the shape's last panel if it needs fewer packs. Visits the panels
// that have one of the first `active` tokens and belong to `part`.
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
      // A whole call calls f even for no panels. A branch here makes g++ inline differently below (one point of peak
      // less at (64,128,4)).
      if (Part::whole || first.begin < first.end) f.template operator()<T.packs>(first.begin, first.end - first.begin);
    }
  }
  if constexpr (!all_whole) {
    if (wanted.begin < wanted.end && wanted.end == panels) {
      f.template operator()<T.last_packs(Tokens)>(whole, std::size_t(1));
    }
  }
}

// Converts rows [tokens][Features] into the panels that belong to `part`. Squares of lanes x lanes are transposed in
// registers.
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

// Converts the panels that belong to `part` into rows [tokens][Features]. Lanes without a token are not stored.
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
