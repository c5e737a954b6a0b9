// SPDX-License-Identifier: Apache-2.0
// Attention without projections (attention.hpp). Keys and values of each group, then queries of each head and panel,
// are converted into panels. The outputs are converted back into rows. A few queries read rows (few_queries.hpp).
#pragma once

#include <cstddef>

#include <ladon/detail/attention/block.hpp>
#include <ladon/detail/attention/few_queries.hpp>
#include <ladon/detail/panel/call_checks.hpp>
#include <ladon/detail/panel/rows.hpp>
#include <ladon/detail/panel/workspace.hpp>
#include <ladon/shape.hpp>

namespace LADON_NAMESPACE::detail {

// The arguments of a call. The four arrays are row-major and belong to the caller.
template <class Options, class BoundMask, class CaptureOf>
struct AttentionCall {
  const float* queries;  // [heads][queries][head width]
  const float* keys;     // [kv heads][keys][head width]
  const float* values;   // [kv heads][keys][value width]
  float* out;            // [heads][queries][value width]
  Lengths lengths;
  const Options& options;
  BoundMask mask;
  CaptureOf capture_of;
};
template <class Options, class BoundMask, class CaptureOf>
AttentionCall(const float*, const float*, const float*, float*, Lengths, const Options&, BoundMask, CaptureOf)
    -> AttentionCall<Options, BoundMask, CaptureOf>;

template <class D, class Simd>
struct AttentionSteps {
  static constexpr Shape shape = D::shape;
  using Score = typename D::Score;
  using Position = typename D::Position;
  using Vectors = typename D::Vectors;
  using L = ShapeLayout<shape, Vectors>;
  static constexpr PanelLayout q = L::queries, k = L::keys;
  using KeyPack = typename Simd::template Pack<k.lanes>;
  // The rotary embedding rotates keys in panels. Deterministic builds add in the order of the panels.
  static constexpr std::size_t most_few_queries =
      Position::rotates || k.lanes == 1 || LADON_DETERMINISTIC ? 0 : target::Current::most_few_queries;

  template <class Call, class CallShare = WholeCall>
  static constexpr void run(const Call& call, AttentionWorkspace<shape, Vectors>& workspace,
                            CallShare share = {}) noexcept {
    const Range wanted = share.of(shape.heads);
    for (std::size_t g = 0; g < shape.kv_heads; ++g) {
      const Range heads = Range{g * shape.heads_per_group(), (g + 1) * shape.heads_per_group()} & wanted;
      if (!CallShare::whole && heads.begin >= heads.end) continue;
      if (most_few_queries > 0 && call.lengths.queries <= most_few_queries) {
        if constexpr (most_few_queries > 0) attend_few_queries(call, g, heads, workspace.scratch.keys.data);
      } else if constexpr (shape.queries > most_few_queries) {
        attend_panels(call, g, heads, workspace);
      }
    }
  }

 private:
  template <class Call>
  static constexpr void attend_panels(const Call& call, std::size_t g, Range heads,
                                      AttentionWorkspace<shape, Vectors>& workspace) noexcept {
    float *const keys = workspace.scratch.keys.data, *const values = workspace.scratch.values.data;
    const std::size_t active = call.lengths.keys;
    to_panels<KeyPack, k, shape.head_width>(call.keys + g * shape.keys * shape.head_width, active, keys);
    to_panels<KeyPack, k, shape.value_width>(call.values + g * shape.keys * shape.value_width, active, values);
    if constexpr (Position::rotates) {
      apply_rotary_to_keys<Position, KeyPack, k, shape.keys, shape.head_width>(call.options.position, active, keys);
    }
    const bool finite = !call.mask.hides_keys || all_finite<KeyPack, k.width(), shape.value_width>(values, active);
    for (std::size_t h = heads.begin; h < heads.end; ++h) {
      attend_head(call, Head<>{{keys, values, finite}, h, {sink_of<Score>(call.options, h)}}, workspace);
    }
  }

  // Computes the queries of `heads`, which belong to group `g`, a few at a time.
  template <class Call>
  static constexpr void attend_few_queries(const Call& call, std::size_t g, Range heads, float* scores) noexcept {
    using Few = FewQueries<D, Simd>;
    const typename Few::Rows rows{call.keys + g * shape.keys * shape.head_width,
                                  call.values + g * shape.keys * shape.value_width, call.lengths.keys};
    const auto attend = [&]<std::size_t Count>(std::size_t first) {
      typename Few::Query queries[Count];
      float scaled[Count * shape.head_width];
      float* out[Count];
      for (std::size_t i = 0; i < Count; ++i) {
        const std::size_t h = heads.begin + (first + i) / call.lengths.queries, q = (first + i) % call.lengths.queries;
        queries[i] = {h, q, sink_of<Score>(call.options, h)};
        out[i] = call.out + (h * shape.queries + q) * shape.value_width;
        const float* const from = call.queries + (h * shape.queries + q) * shape.head_width;
        for (std::size_t f = 0; f < shape.head_width; ++f) {
          scaled[i * shape.head_width + f] = from[f] * ScoreFunction<shape, Score>::query_scale;
        }
      }
      Few::attend(queries, scaled, rows, call.mask, call.capture_of, scores, out);
    };
    const std::size_t count = (heads.end - heads.begin) * call.lengths.queries;
    std::size_t first = 0;
    for (; first + Few::together <= count; first += Few::together) {
      attend.template operator()<Few::together>(first);
    }
    if constexpr (Few::together > 2) {
      if (first + 2 <= count) attend.template operator()<2>(first), first += 2;
    }
    for (; first < count; ++first) attend.template operator()<1>(first);
  }
  template <class Call>
  static constexpr void attend_head(const Call& call, const Head<>& head,
                                    AttentionWorkspace<shape, Vectors>& workspace) noexcept {
    const float* const rows = call.queries + head.index * shape.queries * shape.head_width;
    float* const out = call.out + head.index * shape.queries * shape.value_width;
    float* const query = workspace.scratch.query.data;
    const auto attend = [&]<PanelLayout P, std::size_t Packs>(std::size_t first, std::size_t count) {
      using Pack = typename Simd::template Pack<P.lanes>;
      for (std::size_t p = first; p < first + count; ++p) {
        const Range queries = tokens_of<q>(p, 1, call.lengths.queries);
        const std::size_t tokens = queries.end - queries.begin;
        to_panels<Pack, P, shape.head_width>(rows + queries.begin * shape.head_width, tokens, query);
        scale<Pack, P>(query);
        if constexpr (Position::rotates) {
          apply_rotary<Position, Pack, Packs, P.width()>(
              call.options.position, static_cast<std::ptrdiff_t>(queries.begin) + call.options.bottom_right(), tokens,
              query);
        }
        attend_query_block<AttendForm<D, Simd, P, Packs, const float*>>(
            head, {query, queries, workspace.scratch.scores.data, workspace.out.data, nullptr}, call.lengths.keys,
            call.mask, call.capture_of);
        from_panels<Pack, P, shape.value_width>(workspace.out.data, tokens, out + queries.begin * shape.value_width);
      }
    };
    for_panels<q, L::last_queries, shape.queries>(call.lengths.queries, attend);
  }
  template <class Pack, PanelLayout P>
  static constexpr void scale(float* query) noexcept {
    const Pack factor = Pack::broadcast(ScoreFunction<shape, Score>::query_scale);
    for (std::size_t i = 0; i < shape.head_width * P.width(); i += Pack::lanes) {
      (Pack::load(query + i) * factor).store(query + i);
    }
  }
};

}  // namespace LADON_NAMESPACE::detail
