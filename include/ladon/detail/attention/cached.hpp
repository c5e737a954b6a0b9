// SPDX-License-Identifier: Apache-2.0
// Multi-head attention with a cache of keys and values (key_value_cache.hpp).
#pragma once

#include <cstddef>

#include <ladon/checks.hpp>
#include <ladon/detail/attention/heads.hpp>
#include <ladon/detail/vec/choose.hpp>
#include <ladon/mask/position.hpp>
#include <ladon/shape.hpp>

namespace LADON_NAMESPACE::detail {

// Checks that a ring has room for a window and the tokens of a call. Public functions call this function directly,
// because g++ prints all callers before the message of a static_assert.
template <Shape S, class Mask, class Cache>
constexpr void expect_room() noexcept {
  if constexpr (Cache::ring) {
    constexpr std::size_t window = mask::keys_before_query<Mask>;
    static_assert(S.keys >= window + S.queries,
                  "ladon: the cache is too small: it must hold the window and the tokens of one call");
  }
}

// How many keys before a query are visible in a ring. Options with a member `ring_window` have their own window.
template <class Options>
inline constexpr std::size_t ring_window = mask::keys_before_query<typename Options::MaskType>;
template <class Options>
  requires requires { Options::ring_window; }
inline constexpr std::size_t ring_window<Options> = Options::ring_window;

// Returns the bound mask for `tokens` new tokens after `past` tokens. A ring stores token p in slot p % keys.
template <class Cache, class Options>
constexpr auto bind_behind(const Options& options, std::size_t past, std::size_t tokens) noexcept {
  if constexpr (Cache::ring) {
    static_assert(mask::keys_before_query<typename Options::MaskType> != all ||
                      std::is_same_v<typename Options::MaskType, mask::Causal>,
                  "ladon: with Model::window_keys, a stack has no mask but a causal mask");
    LADON_EXPECTS(options.mask.offset == mask::default_offset, "ladon: a ring has no other offset than its own",
                  options.caller, {{"options.mask.offset", options.mask.offset}});
    return mask::BoundRing<ring_window<Options>>(past, tokens, Cache::shape.keys);
  } else {
    return options.bind_to({tokens, past + tokens}, static_cast<std::ptrdiff_t>(past));
  }
}

// Stores lane t of `panel` [features][Width] as token `first` + t of the text. Token p goes to slot p % Slots.
template <std::size_t Slots, std::size_t Width, class Storage>
constexpr void scatter(const float* panel, std::size_t tokens, std::size_t first, Storage& to) noexcept {
  for (std::size_t t = 0; t < tokens; ++t) to.store((first + t) % Slots, panel + t, Width);
}

// Returns whether the stored values of the tokens `first` to `first` + `tokens` - 1 are finite.
template <std::size_t Slots, class Storage>
constexpr bool stored_finite(const Storage& from, std::size_t tokens, std::size_t first) noexcept {
  bool finite = true;
  for (std::size_t t = 0; t < tokens; ++t) finite = finite && from.finite((first + t) % Slots);
  return finite;
}

template <class D, class Simd>
struct CachedSteps : MultiHeadSteps<D, Simd> {
  using Base = MultiHeadSteps<D, Simd>;
  using Base::shape, Base::q, Base::k, Base::last_q, Base::last_k;
  using typename Base::KeyPack, typename Base::Norms, typename Base::Position, typename Base::Vectors,
      typename Base::Weights;

  // Whether `extend` projects a single token for all heads in one product, which reads weights faster from memory than
  // a product for each head. The product writes call.heads, where the output of each head later replaces its query,
  // so head_width must equal value_width. Weights must be contiguous. MultiHeadAttention::attend never joins heads, so
  // that its result is bit-identical to `run`.
  static constexpr bool joins_heads_of_single_token = target::Current::streams > 1 && (Weights::heads_adjacent) &&
                                                      (shape.head_width == shape.value_width) &&
                                                      is_single_token<Simd, q> && !Base::norms_all;

  // Computes the attention of every head to a cache. MayJoin: one product may project the query for all heads
  // (joins_heads_of_single_token). values_finite(g) returns whether all values of head g in the cache are finite.
  template <bool MayJoin, class CallShare>
  static constexpr void attend_cache(const auto& call, const auto& bound, const auto& cache,
                                     CachedScratch<shape, Vectors>& scratch, CallShare share,
                                     auto values_finite) noexcept {
    constexpr bool projected = MayJoin && joins_heads_of_single_token && CallShare::whole;
    if constexpr (projected) {
      matmul<Simd, q, 1, shape.query_rows(), shape.model>(call.weights.query(0), call.x, 1,
                                                          Epilogue<1>{call.heads, 0, {Base::projection_scale}});
    }
    const Range groups = share.of(shape.kv_heads);
    for (std::size_t g = groups.begin; g < groups.end; ++g) {
      Base::template attend_group<projected>(
          call, bound, g, KeysAndValues{cache.keys[g].view(), cache.values[g].view(), values_finite(g)}, scratch);
    }
  }

  // Appends the call's tokens to the cache, then attends to the cache.
  //
  // With several threads, computes only the groups in `share`. cache.length and cache.not_finite_end stay unchanged,
  // because other threads read them. count_tokens updates both in a later phase.
  template <class Call, class Cache, class CallShare = WholeCall>
  static constexpr void extend(Call call, Cache& cache, CachedScratch<shape, Vectors>& scratch,
                               CallShare share = {}) noexcept {
    constexpr std::size_t capacity = Cache::shape.keys;
    const std::size_t past = cache.length, tokens = call.lengths.queries, length = past + tokens;
    LADON_EXPECTS(Cache::ring || length <= shape.keys, "ladon: the cache has no room for these tokens",
                  call.options.caller, {{"cache.length", past}, {"tokens", tokens}, {"shape.keys", shape.keys}});
    bool finite[shape.kv_heads];  // whether all new values of a head are finite
    for (bool& head : finite) head = true;
    append(call, cache, scratch, share, finite);
    call.lengths.keys = length < capacity ? length : capacity;
    const BoundQueries bound{bind_behind<Cache>(call.options, past, tokens), static_cast<std::ptrdiff_t>(past)};
    const bool earlier_finite = cache.not_finite_end == 0 || length >= cache.not_finite_end + capacity;
    attend_cache<true>(call, bound, cache, scratch, share, [&](std::size_t g) { return earlier_finite && finite[g]; });
    if constexpr (CallShare::whole) {
      for (const bool head : finite) cache.not_finite_end = head ? cache.not_finite_end : length;
      cache.length = length;
    }
  }
  // After `extend` with several threads, one thread updates cache.length and cache.not_finite_end.
  template <class Cache, class CallShare>
  static constexpr void count_tokens(std::size_t tokens, Cache& cache, CallShare share) noexcept {
    if constexpr (CallShare::whole) return;  // `extend` has counted the tokens
    const Range once = share.of(1);
    if (once.begin == once.end) return;
    const std::size_t past = cache.length;
    for (std::size_t g = 0; g < shape.kv_heads; ++g) {
      if (!stored_finite<Cache::shape.keys>(cache.values[g], tokens, past)) cache.not_finite_end = past + tokens;
    }
    cache.length = past + tokens;
  }
  // fill_keys, and then fill_values, replace the cached tokens by a projected context. `projected` is
  // KeyWorkspace::projected.
  template <class Context, class Cache>
  static constexpr void fill_keys(Context context, const Weights& w, std::size_t active,
                                  const typename Position::Data& position, Cache& cache, float* projected) noexcept {
    cache.length = 0;
    if constexpr (Base::norms_all) {
      for_each_panel<k, last_k, shape.keys>(active, [&]<PanelLayout P, std::size_t Packs>(std::size_t p, Range tokens) {
        Norms::template project_panels<false, P, Packs, shape.key_model, 0>(
            w, context.template panels_from<shape.key_model, k.width()>(p), 1, projected);
        for (std::size_t g = 0; g < shape.kv_heads; ++g)
          append_keys<P, Packs>(w, g, projected + g * shape.head_width * P.width(), tokens, position, cache);
      });
      return;
    }
    for (std::size_t g = 0; g < shape.kv_heads; ++g) {
      if constexpr (Cache::precision == CachePrecision::float32) {
        float* const keys = cache.keys[g].data;
        Base::template project_context<shape.head_width, shape.key_model>(w.key(g), context, active, keys);
        Base::finish_keys(w, g, position, active, keys);
      } else {
        for_each_panel<k, last_k, shape.keys>(
            active, [&]<PanelLayout P, std::size_t Packs>(std::size_t p, Range tokens) {
              project_panel<P, Packs, shape.head_width, shape.key_model>(w.key(g), context, p, projected);
              append_keys<P, Packs>(w, g, projected, tokens, position, cache);
            });
      }
    }
  }
  template <class Context, class Cache>
  static constexpr void fill_values(Context context, const Weights& w, std::size_t active, Cache& cache,
                                    float* projected) noexcept {
    cache.length = cache.not_finite_end = 0;
    for (std::size_t g = 0; g < shape.kv_heads; ++g) {
      if constexpr (Cache::precision == CachePrecision::float32) {
        float* const values = cache.values[g].data;
        Base::template project_context<shape.value_width, shape.value_model>(w.value(g), context, active, values);
        if (!all_finite<KeyPack, k.width(), shape.value_width>(values, active)) cache.not_finite_end = active;
      } else {
        for_each_panel<k, last_k, shape.keys>(
            active, [&]<PanelLayout P, std::size_t Packs>(std::size_t p, Range tokens) {
              project_panel<P, Packs, shape.value_width, shape.value_model>(w.value(g), context, p, projected);
              if (!append_values<P>(g, projected, tokens, cache)) cache.not_finite_end = active;
            });
      }
    }
    cache.length = active;
  }

 private:
  template <PanelLayout P, std::size_t Packs, std::size_t Rows, std::size_t Inner>
  static constexpr void project_panel(const auto& w, auto context, std::size_t p, float* projected) noexcept {
    matmul<Simd, P, Packs, Rows, Inner>(w, context.template panels_from<Inner, k.width()>(p), 1,
                                        StoreProjected<P.width()>{projected, 0});
  }

  // Projects keys and values of the heads in `share`, and appends them to the cache.
  template <class Call, class Cache, class CallShare>
  static constexpr void append(const Call& call, Cache& cache, CachedScratch<shape, Vectors>& scratch, CallShare share,
                               bool* finite) noexcept {
    constexpr bool joined = joins_heads_of_single_token && CallShare::whole;
    const Weights& w = call.weights;
    const std::size_t tokens = call.lengths.queries;
    const Range groups = share.of(shape.kv_heads);
    for_each_panel<q, last_q, shape.queries>(tokens, [&]<PanelLayout P, std::size_t Packs>(std::size_t p, Range range) {
      const auto x = call.x.template panels_from<shape.model, q.width()>(p);
      // Returns the keys or the values of head g. If `joined`, head 0 projects all heads; call.heads is scratch.
      const auto project = [&]<std::size_t Width>(const auto& rows, [[maybe_unused]] std::size_t g) -> float* {
        if constexpr (joined) {
          if (g == 0)
            matmul<Simd, q, 1, shape.kv_heads * Width, shape.model>(rows, x, 1, StoreProjected<1>{call.heads, 0});
          return call.heads + g * Width;
        } else {
          float* const to = scratch.projected.data;
          matmul<Simd, P, Packs, Width, shape.model>(rows, x, 1, StoreProjected<P.width()>{to, 0});
          return to;
        }
      };
      for (std::size_t g = groups.begin; g < groups.end; ++g) {
        float* keys = nullptr;
        if constexpr (Base::norms_all) {
          keys = call.keys + p * shape.key_rows() * q.width() + g * shape.head_width * P.width();
        } else {
          keys = project.template operator()<shape.head_width>(w.key(g), g);
        }
        append_keys<P, Packs>(w, g, keys, range, call.options.position, cache);
      }
      for (std::size_t g = groups.begin; g < groups.end; ++g) {
        const float* const values = project.template operator()<shape.value_width>(w.value(g), g);
        finite[g] = append_values<P>(g, values, range, cache) && finite[g];
      }
    });
  }

  // append_keys and append_values store a panel, with the tokens `range` of the call, in head `g` of the cache.
  // append_keys first computes norm and rotation. append_values returns whether the values are finite.
  template <PanelLayout P, std::size_t Packs, class Cache>
  static constexpr void append_keys(const Weights& w, std::size_t g, float* projected, Range range,
                                    const typename Position::Data& position, Cache& cache) noexcept {
    const std::size_t first = cache.length + range.begin, tokens = range.end - range.begin;
    Base::template norm_and_rotate<false, P, Packs>(w, g, position, static_cast<std::ptrdiff_t>(first), tokens,
                                                    projected);
    scatter<Cache::shape.keys, P.width()>(projected, tokens, first, cache.keys[g]);
  }
  template <PanelLayout P, class Cache>
  static constexpr bool append_values(std::size_t g, const float* projected, Range range, Cache& cache) noexcept {
    const std::size_t first = cache.length + range.begin, tokens = range.end - range.begin;
    scatter<Cache::shape.keys, P.width()>(projected, tokens, first, cache.values[g]);
    if constexpr (Cache::precision == CachePrecision::float32) {
      return all_finite<typename Simd::template Pack<P.lanes>, P.width(), shape.value_width>(projected, tokens);
    } else {
      // Rounding to bfloat16 may give infinity.
      return stored_finite<Cache::shape.keys>(cache.values[g], tokens, first);
    }
  }
};

}  // namespace LADON_NAMESPACE::detail
