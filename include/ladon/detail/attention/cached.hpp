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

// Public functions call this function directly, because g++ prints all callers before the message.
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
  // a product for each head. The result is stored in the array of the heads, so head_width must equal value_width.
  // Weights must be contiguous. MultiHeadAttention::attend never joins heads, so that its result is bit-identical to
  // `run`.
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
  template <bool MayJoin, class CallShare = WholeCall>
  static constexpr void attend_cache(const auto& call, const auto& bound, const auto& cache,
                                     CachedScratch<shape, Vectors>& scratch, CallShare share = {}) noexcept {
    attend_cache<MayJoin>(call, bound, cache, scratch, share, [&](std::size_t) { return cache.values_finite(); });
  }

  // Appends the call's tokens to the cache, then attends to the cache.
  //
  // With several threads, computes only the groups in `share`. cache.length and cache.not_finite_end stay unchanged,
  // because other threads read them. count_tokens updates both in a later phase.
  template <class Call, class Cache, class CallShare = WholeCall>
  static constexpr void extend(Call call, Cache& cache, CachedScratch<shape, Vectors>& scratch,
                               CallShare share = {}) noexcept {
    const std::size_t past = cache.length, tokens = call.lengths.queries, length = past + tokens;
    LADON_EXPECTS(Cache::ring || length <= shape.keys, "ladon: the cache has no room for these tokens",
                  call.options.caller, {{"cache.length", past}, {"tokens", tokens}, {"shape.keys", shape.keys}});
    if constexpr (joins_heads_of_single_token && CallShare::whole) {
      append_one(call, cache);
    } else {
      append(call, cache, scratch, share);
    }
    call.lengths.keys = length < Cache::shape.keys ? length : Cache::shape.keys;
    const BoundQueries bound{bind_behind<Cache>(call.options, past, tokens), static_cast<std::ptrdiff_t>(past)};
    if constexpr (CallShare::whole) {
      attend_cache<true>(call, bound, cache, scratch);
    } else {
      const bool earlier_finite = cache.not_finite_end == 0 || length >= cache.not_finite_end + Cache::shape.keys;
      attend_cache<true>(call, bound, cache, scratch, share, [&](std::size_t g) {
        return earlier_finite && stored_finite<Cache::shape.keys>(cache.values[g], tokens, past);
      });
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
  // fill_keys and fill_values replace the cached tokens by a projected context. `projected` is KeyWorkspace::projected.
  template <class Context, class Data, class Cache>
  static constexpr void fill_keys(Context context, const Weights& w, std::size_t active, const Data& position,
                                  Cache& cache, [[maybe_unused]] float* projected) noexcept {
    if constexpr (Base::norms_all) {
      cache.length = 0;
      fill_all_keys(context, w, active, position, cache, projected);
    } else {
      for (std::size_t g = 0; g < shape.kv_heads; ++g) {
        if constexpr (Cache::precision == CachePrecision::float32) {
          if constexpr (Base::norms_heads) {
            Base::project_keys(w.key(g), context, active, position, cache.keys[g].data, w, g);
          } else {
            Base::project_keys(w.key(g), context, active, position, cache.keys[g].data);
          }
        } else {
          fill_panels<shape.head_width, shape.key_model>(
              w.key(g), context, active, projected, cache.keys[g], [&]<PanelLayout P, std::size_t Packs>(Range range) {
                if constexpr (Norms::first) Norms::template norm_head<P, Packs>(w.key_norm, g, projected);
                if constexpr (Position::rotates) {
                  apply_rotary<Position, typename Simd::template Pack<P.lanes>, Packs, k.width()>(
                      position, static_cast<std::ptrdiff_t>(range.begin), range.end - range.begin, projected);
                }
                if constexpr (Norms::last) Norms::template norm_head<P, Packs>(w.key_norm, g, projected);
              });
        }
      }
    }
    cache.length = active;
  }
  template <class Context, class Cache>
  static constexpr void fill_values(Context context, const Weights& w, std::size_t active, Cache& cache,
                                    [[maybe_unused]] float* projected) noexcept {
    cache.not_finite_end = 0;
    for (std::size_t g = 0; g < shape.kv_heads; ++g) {
      bool finite = true;
      if constexpr (Cache::precision == CachePrecision::float32) {
        Base::template project_context<shape.value_width, shape.value_model>(w.value(g), context, active,
                                                                             cache.values[g].data);
        finite = all_finite<KeyPack, k.width(), shape.value_width>(cache.values[g].data, active);
      } else {
        fill_panels<shape.value_width, shape.value_model>(w.value(g), context, active, projected, cache.values[g],
                                                          []<PanelLayout, std::size_t>(Range) {});
        finite = stored_finite<shape.keys>(cache.values[g], active, 0);
      }
      if (!finite) cache.not_finite_end = active;
    }
  }

 private:
  // Projects `context` into a bfloat16 or int8 cache. `finish` may change a projected panel, for example rotate keys.
  template <std::size_t Rows, std::size_t Inner>
  static constexpr void fill_panels(const auto& w, auto context, std::size_t active, float* projected, auto& to,
                                    auto finish) noexcept {
    for_panels<k, last_k, shape.keys>(
        active, [&]<PanelLayout P, std::size_t Packs>(std::size_t first, std::size_t count) {
          for (std::size_t p = first; p < first + count; ++p) {
            constexpr PanelLayout stored{P.lanes, k.width() / P.lanes, P.tile_rows};
            const Range range = tokens_of<k>(p, 1, active);
            matmul<Simd, P, Packs, Rows, Inner>(w, context.template panels_from<Inner, k.width()>(p), 1,
                                                StoreProjected<k.width()>{projected, 0});
            finish.template operator()<stored, Packs>(range);
            scatter<shape.keys, k.width()>(projected, range.end - range.begin, range.begin, to);
          }
        });
  }

  // Like fill_keys, for a norm over all heads.
  template <class Context, class Data, class Cache>
  static constexpr void fill_all_keys(Context context, const Weights& w, std::size_t active, const Data& position,
                                      Cache& cache, float* projected) noexcept {
    for_panels<k, last_k, shape.keys>(
        active, [&]<PanelLayout P, std::size_t Packs>(std::size_t first, std::size_t count) {
          for (std::size_t p = first; p < first + count; ++p) {
            const Range range = tokens_of<k>(p, 1, active);
            Norms::template project_panels<false, P, Packs, shape.key_model, 0>(
                w, context.template panels_from<shape.key_model, k.width()>(p), 1, projected);
            for (std::size_t g = 0; g < shape.kv_heads; ++g) {
              append_keys<P, Packs>(g, projected + g * shape.head_width * P.width(), range, position, cache);
            }
          }
        });
  }

  // Projects keys and values of the heads in `share`, and appends them to the cache.
  template <class Call, class Cache, class CallShare>
  static constexpr void append(const Call& call, Cache& cache, CachedScratch<shape, Vectors>& scratch,
                               CallShare share) noexcept {
    const std::size_t tokens = call.lengths.queries;
    const Range groups = share.of(shape.kv_heads);
    for_panels<q, last_q, shape.queries>(
        tokens, [&]<PanelLayout P, std::size_t Packs>(std::size_t first, std::size_t count) {
          const StoreProjected<P.width()> project{scratch.projected.data, 0};
          for (std::size_t p = first; p < first + count; ++p) {
            const Range range = tokens_of<q>(p, 1, tokens);
            const auto x = call.x.template panels_from<shape.model, q.width()>(p);
            for (std::size_t g = groups.begin; g < groups.end; ++g) {
              float* keys = project.out;
              if constexpr (Base::norms_all) {
                keys = call.keys + p * shape.key_rows() * q.width() + g * shape.head_width * P.width();
              } else {
                matmul<Simd, P, Packs, shape.head_width, shape.model>(call.weights.key(g), x, 1, project);
              }
              if constexpr (Norms::heads) {
                append_keys<P, Packs>(g, keys, range, call.options.position, cache, call.weights.key_norm);
              } else {
                append_keys<P, Packs>(g, keys, range, call.options.position, cache);
              }
              matmul<Simd, P, Packs, shape.value_width, shape.model>(call.weights.value(g), x, 1, project);
              append_values<P, CallShare::whole>(g, project.out, range, cache);
            }
          }
        });
    if constexpr (CallShare::whole) cache.length += tokens;
  }
  // Like `append`, for a single token: one product projects all heads. `call.heads` is scratch memory.
  template <class Call, class Cache>
  static constexpr void append_one(const Call& call, Cache& cache) noexcept {
    constexpr std::size_t rows = shape.kv_heads * shape.head_width;
    const Epilogue<1> project{call.heads, 0};
    matmul<Simd, q, 1, rows, shape.model>(call.weights.key(0), call.x, 1, project);
    for (std::size_t g = 0; g < shape.kv_heads; ++g) {
      if constexpr (Norms::heads) {
        append_keys<q, 1>(g, call.heads + g * shape.head_width, {0, 1}, call.options.position, cache,
                          call.weights.key_norm);
      } else {
        append_keys<q, 1>(g, call.heads + g * shape.head_width, {0, 1}, call.options.position, cache);
      }
    }
    matmul<Simd, q, 1, rows, shape.model>(call.weights.value(0), call.x, 1, project);
    for (std::size_t g = 0; g < shape.kv_heads; ++g) {
      append_values<q, true>(g, call.heads + g * shape.value_width, {0, 1}, cache);
    }
    cache.length += 1;
  }

  // append_keys and append_values store a panel, with the tokens `range` of the call, in head `g` of the cache.
  // append_keys first computes norm and rotation. `norm` is the norm of each head. Without such a norm, this argument
  // is absent, which saves a register. UpdatesFinite: append_values updates cache.not_finite_end.
  template <PanelLayout P, std::size_t Packs, class Data, class Cache>
  static constexpr void append_keys(std::size_t g, float* projected, Range range, const Data& position, Cache& cache,
                                    const auto&... norm) noexcept {
    const std::size_t first = cache.length + range.begin, tokens = range.end - range.begin;
    if constexpr (Norms::first) Norms::template norm_head<P, Packs>(norm..., g, projected);
    if constexpr (Position::rotates) {
      apply_rotary<Position, typename Simd::template Pack<P.lanes>, Packs, P.width()>(
          position, static_cast<std::ptrdiff_t>(first), tokens, projected);
    }
    if constexpr (Norms::last) Norms::template norm_head<P, Packs>(norm..., g, projected);
    scatter<Cache::shape.keys, P.width()>(projected, tokens, first, cache.keys[g]);
  }
  template <PanelLayout P, bool UpdatesFinite, class Cache>
  static constexpr void append_values(std::size_t g, const float* projected, Range range, Cache& cache) noexcept {
    const std::size_t first = cache.length + range.begin, tokens = range.end - range.begin;
    scatter<Cache::shape.keys, P.width()>(projected, tokens, first, cache.values[g]);
    if constexpr (UpdatesFinite) {
      bool finite = true;
      if constexpr (Cache::precision == CachePrecision::float32) {
        finite = all_finite<typename Simd::template Pack<P.lanes>, P.width(), shape.value_width>(projected, tokens);
      } else {
        finite =
            stored_finite<Cache::shape.keys>(cache.values[g], tokens, first);  // rounding to bfloat16 may give infinity
      }
      if (!finite) cache.not_finite_end = first + tokens;
    }
  }
};

}  // namespace LADON_NAMESPACE::detail
