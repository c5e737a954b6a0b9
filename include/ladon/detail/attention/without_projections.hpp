// SPDX-License-Identifier: Apache-2.0
// Attention without projections (attention.hpp). The queries of each head are converted into panels, and the outputs
// back into rows. If `attends_rows` is true, keys and values are read in the caller's rows, and few queries have
// separate kernels (few_queries.hpp). Otherwise, keys and values of each group become panels first.
#pragma once

#include <cstddef>
#include <type_traits>

#include <ladon/detail/attention/block.hpp>
#include <ladon/detail/attention/few_queries.hpp>
#include <ladon/detail/panel/call_checks.hpp>
#include <ladon/detail/panel/rows.hpp>
#include <ladon/detail/panel/workspace.hpp>
#include <ladon/mask/position.hpp>
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

// Whether keys and values are read in rows. The rotary embedding rotates keys in panels, and deterministic builds add
// in the order of the panels.
template <Shape S, class Position, class Vectors>
inline constexpr bool attends_rows = !Position::rotates && ShapeLayout<S, Vectors>::keys.lanes > 1 &&
                                     !LADON_DETERMINISTIC && target::Current::most_few_queries > 0;

// Whether the heads of a group are computed like one head that has the queries of all these heads. Without a mask, all
// these queries see the same keys. If the queries of one head fill all lanes, merging gains nothing.
template <Shape S, class Mask, class Score, class Position, class Vectors>
inline constexpr bool merges_heads =
    std::is_same_v<Mask, mask::Unmasked> && !Score::sinks && attends_rows<S, Position, Vectors> &&
    S.heads_per_group() > 1 && (S.queries < Vectors::lanes) && Score::scale(S) == Score::scale(S.with_merged_heads());

template <class D, class Simd>
struct AttentionSteps {
  static constexpr Shape shape = D::shape;
  using Score = typename D::Score;
  using Position = typename D::Position;
  using Vectors = typename D::Vectors;
  using L = ShapeLayout<shape, Vectors>;
  static constexpr PanelLayout q = L::queries, k = L::keys;
  using KeyPack = typename Simd::template Pack<k.lanes>;
  static constexpr bool reads_rows = attends_rows<shape, Position, Vectors>;
  static constexpr std::size_t most_few_queries = reads_rows ? target::Current::most_few_queries : 0;
  using Few = FewQueries<D, Simd>;

  // `workspace` is an AttentionWorkspace of this shape, or of a shape with more queries.
  template <class Call, class CallShare>
  static constexpr void run(const Call& call, auto& workspace, CallShare share) noexcept {
    const Range wanted = share.of(shape.heads);
    for (std::size_t g = 0; g < shape.kv_heads; ++g) {
      const Range heads = Range{g * shape.heads_per_group(), (g + 1) * shape.heads_per_group()} & wanted;
      if (!CallShare::whole && heads.begin >= heads.end) continue;
      if constexpr (most_few_queries > 0) {
        if (call.lengths.queries <= most_few_queries) {
          attend_few_queries(call, g, heads, workspace);
          continue;
        }
      }
      if constexpr (shape.queries > most_few_queries) attend_panels(call, g, heads, workspace);
    }
  }

 private:
  template <class Call>
  static constexpr typename Few::Rows rows_of(const Call& call, std::size_t g) noexcept {
    return {call.keys + g * shape.keys * shape.head_width, call.values + g * shape.keys * shape.value_width,
            call.lengths.keys};
  }

  template <class Call>
  static constexpr void attend_panels(const Call& call, std::size_t g, Range heads, auto& workspace) noexcept {
    const auto rows = rows_of(call, g);
    const auto attend = [&]<class View>(View keys, View values, bool finite) {
      for (std::size_t h = heads.begin; h < heads.end; ++h) {
        const KeysAndValues<View> both{keys, values, !call.mask.hides_keys || finite};
        attend_head(call, Head<View>{both, h, {sink_of<Score>(call.options, h)}}, workspace);
      }
    };
    if constexpr (reads_rows) {
      // Nothing behind the caller's last value is read.
      const auto finite = [&] {
        const std::size_t count = rows.active * shape.value_width, whole = count / KeyPack::lanes * KeyPack::lanes;
        const KeyPack rest = KeyPack::load_partial(rows.values + whole, count - whole);
        return all_finite<KeyPack, all, 1>(rows.values, whole) && reduce_add(rest * KeyPack::broadcast(0.0f)) == 0.0f;
      };
      attend(RowsView{rows.keys}, RowsView{rows.values}, call.mask.hides_keys && finite());
    } else {
      float *const keys = workspace.scratch.keys.data, *const values = workspace.scratch.values.data;
      to_panels<KeyPack, k, shape.head_width>(rows.keys, rows.active, keys);
      to_panels<KeyPack, k, shape.value_width>(rows.values, rows.active, values);
      if constexpr (Position::rotates) {
        for_each_panel<k, k, shape.keys>(rows.active, [&]<PanelLayout, std::size_t Packs>(std::size_t p, Range tokens) {
          apply_rotary<Position, KeyPack, Packs, k.width()>(
              call.options.position, static_cast<std::ptrdiff_t>(tokens.begin), tokens.end - tokens.begin,
              keys + p * k.width() * shape.head_width);
        });
      }
      const auto finite = [&] { return all_finite<KeyPack, k.width(), shape.value_width>(values, rows.active); };
      attend(static_cast<const float*>(keys), static_cast<const float*>(values), call.mask.hides_keys && finite());
    }
  }

  // Computes Count queries that share keys and values, from number `first` on. Number n is query n % q of head `head` +
  // n / q, where q = call.lengths.queries.
  template <std::size_t Count, class Call>
  static constexpr void attend_rows(const Call& call, const typename Few::Rows& rows, std::size_t head,
                                    std::size_t first, auto& workspace) noexcept {
    typename Few::Query queries[Count];
    float scaled[Count * shape.head_width];
    float* out[Count];
    for (std::size_t i = 0; i < Count; ++i) {
      const std::size_t h = head + (first + i) / call.lengths.queries, index = (first + i) % call.lengths.queries;
      queries[i] = {h, index, sink_of<Score>(call.options, h)};
      out[i] = call.out + (h * shape.queries + index) * shape.value_width;
      const float* const from = call.queries + (h * shape.queries + index) * shape.head_width;
      for (std::size_t f = 0; f < shape.head_width; ++f) {
        scaled[i * shape.head_width + f] = from[f] * ScoreFunction<shape, Score>::query_scale;
      }
    }
    Few::attend(queries, scaled, rows, call.mask, call.capture_of, workspace.scratch.scores_of_few.data, out);
  }

  // Computes the queries of `heads` in group `g`, a few at a time.
  template <class Call>
  static constexpr void attend_few_queries(const Call& call, std::size_t g, Range heads, auto& workspace) noexcept {
    const auto rows = rows_of(call, g);
    const auto attend = [&]<std::size_t Count>(std::size_t first) {
      attend_rows<Count>(call, rows, heads.begin, first, workspace);
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
  template <class Call, class View>
  static constexpr void attend_head(const Call& call, const Head<View>& head, auto& workspace) noexcept {
    const float* const rows = call.queries + head.index * shape.queries * shape.head_width;
    float* const out = call.out + head.index * shape.queries * shape.value_width;
    float* const query = workspace.scratch.query.data;
    const auto attend = [&]<PanelLayout P, std::size_t Packs>(std::size_t, Range queries) {
      using Pack = typename Simd::template Pack<P.lanes>;
      const std::size_t tokens = queries.end - queries.begin;
      static_assert(!reads_rows || !is_single_token<Simd, P>, "few queries have other kernels");
      to_panels<Pack, P, shape.head_width>(rows + queries.begin * shape.head_width, tokens, query);
      scale_queries<shape, Score>(query, shape.head_width * P.width());
      if constexpr (Position::rotates) {
        apply_rotary<Position, Pack, Packs, P.width()>(
            call.options.position, static_cast<std::ptrdiff_t>(queries.begin) + call.options.bottom_right(), tokens,
            query);
      }
      attend_query_block<AttendForm<D, Simd, P, Packs, View>>(
          head, {query, queries, workspace.scratch.scores.data, workspace.out.data, nullptr}, call.lengths.keys,
          call.mask, call.capture_of);
      from_panels<Pack, P, shape.value_width>(workspace.out.data, tokens, out + queries.begin * shape.value_width);
    };
    for_each_panel<q, L::last_queries, shape.queries>(call.lengths.queries, attend);
  }
};

}  // namespace LADON_NAMESPACE::detail
