// Attend: one head, one panel of queries. Score, softmax and weigh in turn (the latter two side by side where there are
// registers), block of keys by block of keys, so that workspace never grows with queries x keys.
#pragma once

#include <cstddef>
#include <type_traits>

#include <ladon/checks.hpp>
#include <ladon/detail/attention/capture.hpp>
#include <ladon/detail/attention/head.hpp>
#include <ladon/detail/attention/scores.hpp>
#include <ladon/detail/attention/single_query.hpp>
#include <ladon/detail/attention/softmax.hpp>
#include <ladon/detail/attention/weighted_sum.hpp>
#include <ladon/detail/mask/additive.hpp>
#include <ladon/detail/mask/key_ranges.hpp>
#include <ladon/detail/mask/none.hpp>
#include <ladon/detail/memory/panels.hpp>

namespace ladon::inline LADON_ABI::detail {

template <class Score, class Sinks>
constexpr float sink_of(const Sinks& sinks, std::size_t head) noexcept {
  if constexpr (Score::sinks) {
    LADON_EXPECTS(sinks.data != nullptr, "ladon: this score has sinks: options.sinks");
    return to_exponent(simd::ArrayPack<1>{sinks.data[head]}).lane[0];
  } else {
    return 0;
  }
}

// A panel of scores before softmax, for those who ask. Computed apart and for all active keys, so that the run itself
// is the same with and without.
template <Shape S, class Score, class Target, class Pack, std::size_t Packs, class BoundMask, class Capture>
constexpr void capture_scores(const Head& head, const float* query, Range queries, std::size_t active,
                              const BoundMask& mask, float* scores, const Capture& capture) noexcept {
  using L = PanelLayout<S, Target>;
  using Form = ScoreForm<S, Score>;
  constexpr std::size_t width = L::queries.width(), key_width = L::keys.width();
  constexpr bool quotients = Form::capped && Capture::stage == Stage::scaled;
  constexpr float unit = quotients ? Score::softcap : static_cast<float>(1 / score::log2_e);
  Pack unused[Packs];
  for (std::size_t v = 0; v < Packs; ++v) unused[v] = Pack::broadcast(0.0f);
  for (std::size_t begin = 0; begin < active; begin += L::block) {
    const ScoreBlock block{head.index, queries, Range{begin, begin + L::block} & Range{0, active}};
    if constexpr (Capture::stage == Stage::masked) {
      score<Form, Pack, L::queries, Packs, width, key_width, S.head_width>(head.keys, query, block, {0, 0}, mask,
                                                                           scores, unused);
    } else {
      using Wanted = std::conditional_t<Capture::stage == Stage::capped, Form, ProductForm>;
      score<Wanted, Pack, L::queries, Packs, width, key_width, S.head_width>(head.keys, query, block, block.keys,
                                                                             BoundNone(active), scores, unused);
    }
    capture.template block<width>(scores, block.keys, unit);
  }
  capture.fill_from(active);
}

// O^T panel [value width][width] of one panel of queries from their Q^T panel [head width][width].
template <Shape S, class Score, class Target, class Pack, std::size_t Packs, class BoundMask, class Capture>
constexpr void attend_panel(const Head& head, const float* query, Range queries, const BoundMask& mask, float* scores,
                            float* out, const Capture& capture) noexcept {
  using L = PanelLayout<S, Target>;
  using Form = ScoreForm<S, Score>;
  constexpr std::size_t width = L::queries.width(), key_width = L::keys.width();
  constexpr bool one_block = S.keys <= L::block;
  constexpr std::size_t rows = L::queries.rows_for(Packs);

  constexpr bool only_block = one_block && !Score::sinks;
  constexpr bool beside = exponentials_beside_values<Target>;
  // Where the first pack of queries sees no key from some point on, as under a causal mask on the diagonal, the rest
  // is computed for the other pack only. Capture asks for all.
  constexpr bool halves = beside && BoundMask::ends_within_panels && Packs == 2 && !Capture::weights;

  const KeyRanges ranges = mask.key_ranges(queries);
  std::size_t first_pack_end = 0;
  if constexpr (halves) {
    first_pack_end = mask.key_ranges(Range{queries.begin, queries.begin + Pack::lanes} & queries).visible.end;
  }
  RunningSoftmax<Pack, Packs> softmax;
  if constexpr (Score::sinks) softmax = RunningSoftmax<Pack, Packs>(head.sink);
  Pack after[Packs];
  const std::size_t start = ranges.visible.begin / key_width * key_width;
  std::size_t begin = start;
  bool first = true;
  do {
    // Blocks end at the same keys however wide panels are: so do the sums' roundings, and lane counts give equal bits.
    const std::size_t block_end = (begin / L::block + 1) * L::block;
    const Range range{begin, one_block || ranges.visible.end <= block_end ? ranges.visible.end : block_end};
    const bool last = range.end == ranges.visible.end;
    begin = range.end;
    if constexpr (!one_block && !Capture::weights) {
      if (!last && !mask.may_see_any(queries, range)) continue;
    }
    const ScoreBlock block{head.index, queries, range};
    Pack before[Packs];
    for (std::size_t v = 0; v < Packs; ++v) before[v] = softmax.maximum[v];
    const bool all_values = !BoundMask::hides_keys || head.values_finite || ranges.unmasked.contains(range);
    const Range first_pack_keys = halves && all_values ? Range{range.begin, first_pack_end} & range : range;
    score<Form, Pack, L::queries, Packs, width, key_width, S.head_width, halves>(
        head.keys, query, block, ranges.unmasked, mask, scores, softmax.maximum, first_pack_keys.end);
    softmax.template begin<only_block>(before);
    if constexpr (beside) {
      if (all_values) {
        weigh_scores<Pack, rows, Packs, width, key_width, S.value_width, halves>(
            head.values, scores, first_pack_keys, range.end, softmax, first, last, after, out);
      }
    }
    if (!beside || !all_values) {
      softmax.template exponentials<width, chains<Target>>(scores, range.end - range.begin);
      softmax.multipliers(last, after);
      const Rescale<Pack, Packs> rescale{first, softmax.correction, after};
      if (!all_values) {
        weigh_selected<Pack, Packs, width, key_width, S.value_width>(head.values, scores, block, rescale, mask, out);
      } else if constexpr (!beside) {
        weigh<Pack, rows, Packs, width, key_width, S.value_width>(head.values, scores, range, rescale, out);
      }
    }
    if constexpr (Capture::weights) {
      capture.template block<width>(scores, {start, range.begin}, range, softmax.correction);
    }
    first = false;
  } while (!one_block && begin < ranges.visible.end);
  if constexpr (Capture::weights) capture.template finish<width>(ranges.visible, after);
}

// The same by the kernels of a single query where there is one.
template <Shape S, class Score, class Target, class Simd, std::size_t Packs, class BoundMask, class Capture>
constexpr void attend(const Head& head, const float* query, Range queries, std::size_t active_keys,
                      const BoundMask& mask, float* scores, float* out, const Capture& capture) noexcept {
  using L = PanelLayout<S, Target>;
  using Pack = typename Simd::template Pack<L::queries.lanes>;
  if constexpr (Capture::scores) {
    capture_scores<S, Score, Target, Pack, Packs>(head, query, queries, active_keys, mask, scores, capture);
  }
  if constexpr (one_token<Simd, L::queries> && L::keys.lanes > 1) {
    using KeyPack = typename Simd::template Pack<L::keys.lanes>;
    if (!BoundMask::hides_keys || head.values_finite) {
      attend_one<false, S, Score, KeyPack, L::keys>(head, query, mask, scores, out, capture);
    } else {
      attend_one<true, S, Score, KeyPack, L::keys>(head, query, mask, scores, out, capture);
    }
  } else {
    attend_panel<S, Score, Target, Pack, Packs>(head, query, queries, mask, scores, out, capture);
  }
}

}  // namespace ladon::inline LADON_ABI::detail
