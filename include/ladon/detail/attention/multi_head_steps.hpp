// The steps of multi-head attention on panels: project a head's keys and values, attend, go on to the next head; then
// the output. Encoder and decoder layers are made of the same steps.
#pragma once

#include <cstddef>

#include <ladon/checks.hpp>
#include <ladon/detail/attention/query_block.hpp>
#include <ladon/detail/attention/rotate.hpp>
#include <ladon/detail/linear/matmul.hpp>
#include <ladon/detail/memory/workspace.hpp>
#include <ladon/key_value_cache.hpp>
#include <ladon/weights.hpp>

namespace ladon::inline LADON_ABI::detail {

// Simd has the target's packs, or plain arrays in constant evaluation.
template <Shape S, class Weights, class Score, class Target, class Simd>
struct Heads {
  using L = PanelLayout<S, Target>;
  using Rotary = typename Score::Rotary;
  static constexpr Tiling q = L::queries, k = L::keys;
  using QueryPack = typename Simd::template Pack<q.lanes>;
  using KeyPack = typename Simd::template Pack<k.lanes>;
  static constexpr float query_scale = ScoreForm<S, Score>::query_scale;
  // For a single token of a text, where one head's rows follow another's: memory gives more when it reads all of them
  // in one go, and what they become has room where the concatenated heads will be. (attend has the bits of run, which
  // goes head by head.)
  static constexpr bool all_heads_at_once = runs > 1 && (Weights::heads_adjacent) &&
                                            (S.head_width == S.value_width) && one_token<Simd, q>;

  template <class Part = WholeCall>
  static constexpr void queries_in(const float* rows, std::size_t active, float* panels, Part part = {}) noexcept {
    to_panels<QueryPack, q, S.model>(rows, active, panels, part);
  }
  template <std::size_t Features, class Part = WholeCall>
  static constexpr void context_in(const float* rows, std::size_t active, float* panels, Part part = {}) noexcept {
    to_panels<KeyPack, k, Features>(rows, active, panels, part);
  }
  template <class Part = WholeCall>
  static constexpr void queries_out(const float* panels, std::size_t active, float* rows, Part part = {}) noexcept {
    from_panels<QueryPack, q, S.model>(panels, active, rows, part);
  }

  // Every head: x, and what keys and values are made from, in panels, to the concatenated heads in panels. A part has
  // whole groups of heads, so that none of their keys and values is computed twice.
  template <class Options, class CaptureOf, class Part = WholeCall>
  static constexpr void attend_all(const float* x, const float* context, const Weights& w, Lengths lengths,
                                   const Options& options, HeadScratch<S, Target>& scratch, float* heads,
                                   CaptureOf capture_of, Part part = {}) noexcept {
    const auto mask = options.bind(lengths);
    const std::ptrdiff_t offset = Options::bottom_right();
    const Range groups = part.of(S.kv_heads);
    for (std::size_t g = groups.begin; g < groups.end; ++g) {
      project_keys(w.key(g), context, lengths.keys, options.rotary, scratch.keys.data);
      project_context<S.value_width, S.value_model>(w.value(g), context, lengths.keys, scratch.values.data);
      const bool finite =
          !mask.hides_keys || all_finite<KeyPack, k.width(), S.value_width>(scratch.values.data, lengths.keys);
      attend_group<false>(g, scratch.keys.data, scratch.values.data, finite, w, x, lengths, mask, offset, options,
                          scratch, heads, capture_of);
    }
  }

  // Of every head, K^T and V^T of a context into a cache, in the place of what it held.
  template <class Data, class Cache>
  static constexpr void fill_keys(const float* context, const Weights& w, std::size_t active, const Data& rotary,
                                  Cache& cache) noexcept {
    for (std::size_t g = 0; g < S.kv_heads; ++g) {
      project_keys(w.key(g), context, active, rotary, cache.keys[g].data);
    }
    cache.length = active;
  }
  template <class Cache>
  static constexpr void fill_values(const float* context, const Weights& w, std::size_t active, Cache& cache) noexcept {
    cache.values_finite = true;
    for (std::size_t g = 0; g < S.kv_heads; ++g) {
      project_context<S.value_width, S.value_model>(w.value(g), context, active, cache.values[g].data);
      if (!all_finite<KeyPack, k.width(), S.value_width>(cache.values[g].data, active)) cache.values_finite = false;
    }
  }

  // Of every head, K^T and V^T of the first `tokens` of x, behind those that the cache has.
  template <class Data, class Cache>
  static constexpr void append(const float* x, const Weights& w, std::size_t tokens, const Data& rotary, Cache& cache,
                               CachedScratch<S, Target>& scratch) noexcept {
    float* const projected = scratch.projected.data;
    for_panels<q, S.queries>(tokens, [&]<std::size_t Packs>(std::size_t first, std::size_t count) {
      for (std::size_t p = first; p < first + count; ++p) {
        const std::size_t used = tokens - p * q.width() < q.width() ? tokens - p * q.width() : q.width();
        const std::size_t at = cache.length + p * q.width();
        const float* const in = x + p * S.model * q.width();
        for (std::size_t g = 0; g < S.kv_heads; ++g) {
          project<Simd, q, Packs, S.head_width, S.model>(w.key(g), in, 1, StoreScaled<q.width()>{projected, 0, 1.0f});
          append_keys<Packs>(g, projected, used, at, rotary, cache);
          project<Simd, q, Packs, S.value_width, S.model>(w.value(g), in, 1,
                                                          StoreScaled<q.width()>{projected, 0, 1.0f});
          append_values(g, projected, used, at, cache);
        }
      }
    });
    cache.length += tokens;
  }

  // The same of one token, where all_heads_at_once; what it projects goes where the concatenated heads will be.
  template <class Data, class Cache>
  static constexpr void append_one(const float* x, const Weights& w, const Data& rotary, Cache& cache,
                                   float* heads) noexcept {
    constexpr std::size_t rows = S.kv_heads * S.head_width;
    project<Simd, q, 1, rows, S.model>(w.key(0), x, 1, StoreScaled<1>{heads, 0, 1.0f});
    for (std::size_t g = 0; g < S.kv_heads; ++g) {
      append_keys<1>(g, heads + g * S.head_width, 1, cache.length, rotary, cache);
    }
    project<Simd, q, 1, rows, S.model>(w.value(0), x, 1, StoreScaled<1>{heads, 0, 1.0f});
    for (std::size_t g = 0; g < S.kv_heads; ++g) append_values(g, heads + g * S.value_width, 1, cache.length, cache);
    cache.length += 1;
  }

  // Every head: x in panels to the concatenated heads in panels, attending to a cache. Query i stands at offset + i.
  // Projected: each head's Q^T lies where its O^T will.
  template <bool Projected = false, class BoundMask, class Options, class Cache, class CaptureOf>
  static constexpr void attend_cache(const float* x, const Cache& cache, const Weights& w, Lengths lengths,
                                     const BoundMask& mask, std::ptrdiff_t offset, const Options& options,
                                     CachedScratch<S, Target>& scratch, float* heads, CaptureOf capture_of) noexcept {
    for (std::size_t g = 0; g < S.kv_heads; ++g) {
      attend_group<Projected>(g, cache.keys[g].data, cache.values[g].data, cache.values_finite, w, x, lengths, mask,
                              offset, options, scratch, heads, capture_of);
    }
  }

  // Of every head: x into the cache, then attention to all that is in it.
  template <class Options, class Cache, class CaptureOf>
  static constexpr void extend(const float* x, const Weights& w, std::size_t tokens, const Options& options,
                               Cache& cache, CachedScratch<S, Target>& scratch, float* heads,
                               CaptureOf capture_of) noexcept {
    [[maybe_unused]] constexpr bool ring = Cache::keep == Keep::latest;
    LADON_EXPECTS(ring || cache.length + tokens <= S.keys, "ladon: the cache has no room for these tokens");
    if constexpr (all_heads_at_once) {
      append_one(x, w, options.rotary, cache, heads);
      project<Simd, q, 1, S.query_rows(), S.model>(w.query(0), x, 1, StoreScaled<1>{heads, 0, query_scale});
    } else {
      append(x, w, tokens, options.rotary, cache, scratch);
    }
    const Lengths lengths{tokens, cache.length < S.keys ? cache.length : S.keys};
    attend_cache<all_heads_at_once>(
        x, cache, w, lengths, bind_behind<S, typename Options::MaskType>(options, cache, tokens),
        static_cast<std::ptrdiff_t>(cache.length - tokens), options, scratch, heads, capture_of);
  }

  // Y^T = Wo concat(heads)^T + bo, one panel after the other.
  template <class Part = WholeCall>
  static constexpr void output(const float* heads, const Weights& w, std::size_t active, float* y,
                               Part part = {}) noexcept {
    const auto run = [&]<std::size_t Packs>(std::size_t first, std::size_t count) {
      project<Simd, q, Packs, S.model, S.concat_width()>(
          w.output(), heads + first * S.concat_width() * q.width(), count,
          StoreScaled<q.width()>{y + first * S.model * q.width(), S.model * q.width(), 1.0f});
    };
    for_panels<q, S.queries, panels_at_a_time<Simd, q, S.queries, S.concat_width()>>(active, run, part);
  }

 private:
  // K^T or V^T of one head for every active key: out [panels][Rows][width].
  template <std::size_t Rows, std::size_t Inner, class W>
  static LADON_INLINE constexpr void project_context(const W& w, const float* context, std::size_t active,
                                                     float* out) noexcept {
    constexpr std::size_t in_stride = Inner * k.width(), out_stride = Rows * k.width();
    for_panels<k, S.keys, panels_at_a_time<Simd, k, S.keys, Inner>>(
        active, [&]<std::size_t Packs>(std::size_t first, std::size_t count) {
          project<Simd, k, Packs, Rows, Inner>(w, context + first * in_stride, count,
                                               StoreScaled<k.width()>{out + first * out_stride, out_stride, 1.0f});
        });
  }
  template <class W, class Data>
  static constexpr void project_keys(const W& w, const float* context, std::size_t active, const Data& rotary,
                                     float* out) noexcept {
    project_context<S.head_width, S.key_model>(w, context, active, out);
    if constexpr (Rotary::turns) rotate_keys<Rotary, KeyPack, k, S.keys, S.head_width>(rotary, active, out);
  }

  // A panel of projected keys or values, `used` tokens from `at` on, into the cache of head g.
  template <std::size_t Packs, class Data, class Cache>
  static constexpr void append_keys(std::size_t g, float* projected, std::size_t used, std::size_t at,
                                    const Data& rotary, Cache& cache) noexcept {
    if constexpr (Rotary::turns) {
      rotate<Rotary, QueryPack, Packs, q.width(), S.head_width>(rotary, static_cast<std::ptrdiff_t>(at), used,
                                                                projected);
    }
    scatter<k, S.keys, S.head_width, q.width()>(projected, used, at, cache.keys[g].data);
  }
  template <class Cache>
  static constexpr void append_values(std::size_t g, const float* projected, std::size_t used, std::size_t at,
                                      Cache& cache) noexcept {
    if (!all_finite<QueryPack, q.width(), S.value_width>(projected, used)) cache.values_finite = false;
    scatter<k, S.keys, S.value_width, q.width()>(projected, used, at, cache.values[g].data);
  }

  // The query heads that share one head of keys and values.
  template <bool Projected, class BoundMask, class Options, class Scratch, class CaptureOf>
  static constexpr void attend_group(std::size_t g, const float* keys, const float* values, bool values_finite,
                                     const Weights& w, const float* x, Lengths lengths, const BoundMask& mask,
                                     std::ptrdiff_t offset, const Options& options, Scratch& scratch, float* heads,
                                     CaptureOf capture_of) noexcept {
    for (std::size_t h = g * S.heads_per_group(); h < (g + 1) * S.heads_per_group(); ++h) {
      const Head head{keys, values, values_finite, h, sink_of<Score>(options.sinks, h)};
      attend_head<Projected>(head, w, x, lengths, mask, offset, options, scratch, heads, capture_of);
    }
  }

  // One head, every active query: its part of the concatenated heads.
  template <bool Projected, class BoundMask, class Options, class Scratch, class CaptureOf>
  static constexpr void attend_head(const Head& head, const Weights& w, const float* x, Lengths lengths,
                                    const BoundMask& mask, std::ptrdiff_t offset, const Options& options,
                                    Scratch& scratch, float* heads, CaptureOf capture_of) noexcept {
    const std::size_t h = head.index;
    float* const query = Projected ? heads + h * S.head_width : scratch.query.data;
    for_panels<q, S.queries>(lengths.queries, [&]<std::size_t Packs>(std::size_t first, std::size_t count) {
      for (std::size_t p = first; p < first + count; ++p) {
        if constexpr (!Projected) {
          project<Simd, q, Packs, S.head_width, S.model>(w.query(h), x + p * S.model * q.width(), 1,
                                                         StoreScaled<q.width()>{query, 0, query_scale},
                                                         p == 0 ? Reading::first : Reading::again);
        }
        const Range queries = Range{p * q.width(), (p + 1) * q.width()} & Range{0, lengths.queries};
        if constexpr (Rotary::turns) {
          rotate<Rotary, QueryPack, Packs, q.width(), S.head_width>(
              options.rotary, static_cast<std::ptrdiff_t>(queries.begin) + offset, queries.end - queries.begin, query);
        }
        attend<S, Score, Target, Simd, Packs>(head, query, queries, lengths.keys, mask, scratch.scores.data,
                                              heads + (p * S.concat_width() + h * S.value_width) * q.width(),
                                              capture_of(h, queries));
      }
    });
  }
};

}  // namespace ladon::inline LADON_ABI::detail
