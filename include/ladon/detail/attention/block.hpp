// SPDX-License-Identifier: Apache-2.0
// Computes the attention of one query block (the queries of one panel) in one head:
//     for each key block:
//       scores and their maximum          detail/attention/scores.hpp
//       correction of earlier key blocks  detail/attention/softmax.hpp
//       exponentials and weighted sum     detail/attention/values.hpp
//
// The last step has two strategies. In passes, all exponentials are computed before the weighted sum. Interleaved, they
// are computed between the steps of the first tile of the weighted sum, if registers have room for both
// (`exponentials_beside_values` in detail/target: AVX-512 with FMA).
#pragma once

#include <cstddef>
#include <limits>
#include <type_traits>

#include <ladon/checks.hpp>
#include <ladon/detail/attention/capture.hpp>
#include <ladon/detail/attention/operands.hpp>
#include <ladon/detail/attention/scores.hpp>
#include <ladon/detail/attention/single.hpp>
#include <ladon/detail/attention/softmax.hpp>
#include <ladon/detail/attention/values.hpp>
#include <ladon/detail/cortex_m/m0_attention.hpp>
#include <ladon/detail/panel/cache_panels.hpp>
#include <ladon/mask/additive.hpp>
#include <ladon/mask/position.hpp>
#include <ladon/weights.hpp>

namespace LADON_NAMESPACE::detail {

// Returns the sink of a head (score.hpp) as an exponent of two, or 0 if the score policy has no sinks.
template <class Score, class Options>
constexpr float sink_of(const Options& options, std::size_t head) noexcept {
  if constexpr (Score::sinks) {
    LADON_EXPECTS(options.sinks.data != nullptr, "ladon: this score has sinks: options.sinks", options.caller);
    return mask::to_exponent(vec::ArrayPack<1>{options.sinks.data[head]}).lane[0];
  } else {
    return 0;
  }
}

// Whether attention computes with integers, without an FPU. All features of a value share one exponent, so small
// features lose precision. With int8 weights, the output projection has a larger error of the same kind.
template <class Weights, class Vectors>
inline constexpr bool uses_block_floats = Vectors::uses_block_floats && precision::is_int8<typename Weights::Precision>;
template <class Vectors>
inline constexpr bool uses_block_floats<void, Vectors> = false;

// What the attention of a query block is compiled for. The queries form one panel of the layout T and fill `Packs`
// packs. D is a description such as AttentionTypes.
template <class D, class Simd, PanelLayout T, std::size_t Packs, class ViewType>
struct AttendForm {
  static constexpr Shape shape = D::shape;
  using Vectors = typename D::Vectors;
  using Score = typename D::Score;
  using Function = ScoreFunction<shape, Score>;
  using L = ShapeLayout<shape, Vectors>;
  using Pack = typename Simd::template Pack<T.lanes>;
  using KeyPack = typename Simd::template Pack<L::keys.lanes>;
  using View = ViewType;
  using Single = SingleForm<shape, Score, Vectors, Simd, View>;
  // A single query has separate kernels, unless panels of keys have only one lane.
  static constexpr bool is_single = is_single_token<Simd, T> && L::keys.lanes > 1;
  // Whether the keys and values come from a bfloat16 or int8 cache, and are converted to floats for each key block.
  static constexpr bool widened = is_widened<View>;
  static constexpr bool uses_pairs = std::is_same_v<View, PairPanels>;
  static constexpr bool uses_block_floats = detail::uses_block_floats<typename D::Weights, Vectors> && !widened &&
                                            !uses_pairs && T.width() == 4 && L::keys.width() == 4 &&
                                            shape.head_width <= block_floats::most_width;
  using BlockForm = QueryBlockForm<Pack, QueryBlockSizes{T, Packs, L::keys.width(), shape.head_width, shape.value_width,
                                                         uses_block_floats, uses_pairs, widened}>;
  static constexpr std::size_t packs = Packs;
  static constexpr std::size_t key_block = widened ? L::widened_block : L::block;
  static constexpr bool one_key_block = shape.keys <= key_block;
  static constexpr std::size_t softmax_chains = Vectors::softmax_chains;
  static constexpr bool interleaves_exponentials = Vectors::exponentials_beside_values;
};

// Returns the address of the keys or values of a key block. If they come from a bfloat16 or int8 cache, the `range` is
// converted to floats in block.widened. Otherwise, the result is the array of all keys or values.
template <class Form, std::size_t Features>
LADON_INLINE constexpr const float* floats_of(const typename Form::View& view, const QueryBlock& block,
                                              Range range) noexcept {
  if constexpr (Form::widened) {
    widen<typename Form::KeyPack, Form::BlockForm::key_width, Features>(view, range, block.widened);
    return block.widened;
  } else if constexpr (Form::uses_pairs) {
    return view.data;
  } else {
    return view;
  }
}

// Computes the attention of one query block, one key block after another.
template <class Form, class BoundMask, class Capture>
struct QueryBlockAttention {
  using Pack = typename Form::Pack;
  using BlockForm = typename Form::BlockForm;
  // With a causal mask and two packs of queries, some key blocks end with keys that only the second pack sees. If
  // `halves` is true, the scores of these keys are computed for the second pack only. A capture needs all weights.
  static constexpr bool halves =
      Form::interleaves_exponentials && mask::ends_within_panels<BoundMask> && Form::packs == 2 && !Capture::weights;

  // Whether weights are captured before they are rounded to bfloat16. The rounded weights overwrite the scores.
  static constexpr bool captures_floats = Form::uses_pairs && Capture::weights;

  using HeadType = Head<typename Form::View>;
  const HeadType& head;
  const QueryBlock& block;
  const BoundMask& mask;
  const Capture& capture;
  const KeyRanges ranges;  // `visible`: some query may see these keys; `unmasked`: every query sees these keys
  Range first_pack_keys;   // keys that the first pack of queries may see; used only if `halves` is true
  RunningSoftmax<Pack, Form::packs> softmax;
  Pack after[Form::packs];  // factors that multiply the weighted sums after the current key block
  bool first_block = true;  // true until the first key block is finished
  struct Sums {
    Pack of_pack[Form::packs];
  };
  struct Nothing {};
  LADON_NO_UNIQUE_ADDRESS std::conditional_t<captures_floats, Sums, Nothing> captured;  // the sums of captured weights

  LADON_INLINE constexpr QueryBlockAttention(const HeadType& h, const QueryBlock& b, const BoundMask& m,
                                             const Capture& c) noexcept
      : head(h),
        block(b),
        mask(m),
        capture(c),
        ranges(m.key_ranges(b.queries)),
        first_pack_keys(ranges.visible),
        softmax(Form::Score::sinks ? h.sink : -std::numeric_limits<float>::infinity()) {
    if constexpr (captures_floats) {
      for (std::size_t v = 0; v < Form::packs; ++v) captured.of_pack[v] = softmax.sum[v];
    }
    if constexpr (halves) {
      first_pack_keys = m.key_ranges(Range{b.queries.begin, b.queries.begin + Pack::lanes} & b.queries).visible;
    }
  }

  // Computes the output of the query block, transposed: O^T. The first key block begins where the panel of the first
  // visible key begins. Key blocks end at multiples of Form::key_block, so sums over keys are rounded in the same way
  // for any number of lanes. If no key is visible, there is one empty block, so that the kernels write an output.
  LADON_INLINE constexpr void run() noexcept {
    const std::size_t first = ranges.visible.begin / BlockForm::key_width * BlockForm::key_width;
    Range keys{first, first};
    do {
      const std::size_t block_end = (keys.begin / Form::key_block + 1) * Form::key_block;
      keys.end = Form::one_key_block || ranges.visible.end <= block_end ? ranges.visible.end : block_end;
      const bool last = keys.end == ranges.visible.end;
      if constexpr (!Form::one_key_block && !Capture::weights) {
        if (!last && !mask.may_see_any(block.queries, keys)) continue;
      }
      attend_key_block(keys, last);
      if constexpr (Capture::weights) {
        const Range uncaptured = captures_floats ? Range{keys.begin, keys.begin} : keys;
        capture.template block<BlockForm::query_width>(block.scores, {first, keys.begin}, uncaptured,
                                                       softmax.correction);
      }
      first_block = false;
    } while (!Form::one_key_block && (keys.begin = keys.end) < ranges.visible.end);
    if constexpr (captures_floats) {
      for (Pack& sum : captured.of_pack) sum = softmax.reciprocal(sum);
      capture.template finish<BlockForm::query_width>(ranges.visible, captured.of_pack);
    } else if constexpr (Capture::weights) {
      capture.template finish<BlockForm::query_width>(ranges.visible, after);
    }
  }

 private:
  LADON_INLINE constexpr void attend_key_block(Range keys, bool last) noexcept {
    const ScoreBlock scored{head.index, block.queries, keys};
    // The weight of a hidden key is 0, but 0 times an infinite or NaN value is NaN. `all_values` says that no such
    // value can occur, so the weighted sum need not skip hidden keys. In pairs, this includes the neighbour of the last
    // key.
    const Range neighbours{keys.begin, (keys.end + BlockForm::step - 1) / BlockForm::step * BlockForm::step};
    const bool all_values = !BoundMask::hides_keys || head.values_finite || ranges.unmasked.contains(neighbours);
    const Range first_keys = halves && all_values ? Range{keys.begin, first_pack_keys.end} & keys : keys;
    score_keys(scored, first_keys.end);
    if constexpr (Form::interleaves_exponentials && !captures_floats) {
      if (all_values) return add_values_interleaved(first_keys, keys.end, last);
    }
    add_values_in_passes(scored, last, all_values);
  }

  // Computes the scores of a key block, and adapts the sums of the softmax to the new maximum. If `halves` is true, the
  // first pack of queries does not see the keys from `first_pack_end` on.
  LADON_INLINE constexpr void score_keys(const ScoreBlock& scored, std::size_t first_pack_end) noexcept {
    constexpr bool only_block = Form::one_key_block && !Form::Score::sinks;
    Pack before[Form::packs];
    for (std::size_t v = 0; v < Form::packs; ++v) before[v] = softmax.maximum[v];
    scores<BlockForm, typename Form::Function, halves>(
        block, scored, floats_of<Form, BlockForm::head_width>(head.keys, block, scored.keys), ranges.unmasked, mask,
        softmax.maximum, first_pack_end);
    softmax.template begin<only_block>(before);
    if constexpr (Form::uses_pairs) {
      const std::size_t keys = scored.keys.end - scored.keys.begin;
      if (keys % 2 != 0) hide_key(block.scores + keys * BlockForm::query_width);
    }
  }
  // Gives the missing second key of the last pair the score -inf, so that its weight is 0.
  static LADON_INLINE constexpr void hide_key(float* scores) noexcept {
    for (std::size_t v = 0; v < Form::packs; ++v) {
      Pack::broadcast(-std::numeric_limits<float>::infinity()).store(scores + v * Pack::lanes);
    }
  }

  // First computes the exponentials of all keys, then the weighted sum.
  LADON_INLINE constexpr void add_values_in_passes(const ScoreBlock& scored, bool last, bool all_values) noexcept {
    const std::size_t keys = scored.keys.end - scored.keys.begin;
    if constexpr (captures_floats) capture_weights(scored.keys);
    softmax
        .template exponentials<BlockForm::query_width, Form::softmax_chains, Form::uses_block_floats, Form::uses_pairs>(
            block.scores, keys);
    softmax.multipliers(last, after);
    const Rescale<Pack, Form::packs> rescale{first_block, softmax.correction, after};
    if (!all_values) {
      weighted_sum_selected<BlockForm>(floats_of<Form, BlockForm::value_width>(head.values, block, scored.keys),
                                       block.scores, scored, rescale, mask, block.out);
    } else if constexpr (Form::uses_block_floats) {
      add_values_of_integers(scored.keys, rescale);
    } else if constexpr (!Form::interleaves_exponentials || captures_floats) {
      weighted_sum<BlockForm>(floats_of<Form, BlockForm::value_width>(head.values, block, scored.keys), block.scores,
                              scored.keys, rescale, block.out);
    }
  }

  // Computes with integers at run time, and with floats in constant evaluation.
  LADON_INLINE constexpr void add_values_of_integers(Range keys, const Rescale<Pack, Form::packs>& rescale) noexcept {
    if (std::is_constant_evaluated()) {
      weighted_sum<BlockForm>(head.values, block.scores, keys, rescale, block.out);
    } else {
      block_floats::weighted_sum<BlockForm::value_width, Form::packs>(head.values, block.scores, keys, rescale,
                                                                      block.out, block.words);
    }
  }

  // Captures the exact weights of a key block, and adds them to the sums in `captured`. The scores stay unchanged.
  constexpr void capture_weights(Range keys) noexcept {
    constexpr std::size_t width = BlockForm::query_width;
    Pack total[Form::packs];
    for (Pack& sum : total) sum = Pack::broadcast(0.0f);
    for (std::size_t key = keys.begin; key < keys.end; ++key) {
      float weights[width] = {};
      for (std::size_t v = 0; v < Form::packs; ++v) {
        Pack::load(block.scores + (key - keys.begin) * width + v * Pack::lanes).store(weights + v * Pack::lanes);
      }
      softmax.template weights_of_step<width, false>(weights, weights, total);
      capture.template block<width>(weights, {0, 0}, {key, key + 1}, softmax.correction);
    }
    for (std::size_t v = 0; v < Form::packs; ++v) {
      captured.of_pack[v] = captured.of_pack[v] * softmax.correction[v] + total[v];
    }
  }

  // All packs of queries get the values of `first_keys`. Only the last pack also gets the values from `first_keys.end`
  // to `end` - 1. The exponentials are computed between the steps of the first tile of the sums.
  LADON_INLINE constexpr void add_values_interleaved(Range first_keys, std::size_t end, bool last) noexcept {
    weighted_sum_of_scores<BlockForm, halves>(
        floats_of<Form, BlockForm::value_width>(head.values, block, {first_keys.begin, end}), block.scores, first_keys,
        end, softmax, first_block, last, after, block.out);
  }
};

// Captures the scores of a query block at the stage Capture::stage in an additional pass over all active keys. The
// attention itself is therefore bit-identical with and without capture.
template <class Form, class BoundMask, class Capture>
constexpr void capture_scores(const Head<typename Form::View>& head, const QueryBlock& block, std::size_t active_keys,
                              const BoundMask& mask, const Capture& capture) noexcept {
  using Pack = typename Form::Pack;
  using Function = typename Form::Function;
  constexpr bool quotients = Function::capped && Capture::stage == Stage::scaled;
  constexpr float unit = quotients ? Form::Score::softcap : static_cast<float>(1 / score::log2_e);
  Pack unused[Form::packs];
  for (std::size_t v = 0; v < Form::packs; ++v) unused[v] = Pack::broadcast(0.0f);
  for (std::size_t begin = 0; begin < active_keys; begin += Form::key_block) {
    const ScoreBlock scored{head.index, block.queries, Range{begin, begin + Form::key_block} & Range{0, active_keys}};
    const float* const keys = floats_of<Form, Form::BlockForm::head_width>(head.keys, block, scored.keys);
    if constexpr (Capture::stage == Stage::masked) {
      scores<typename Form::BlockForm, Function>(block, scored, keys, {0, 0}, mask, unused);
    } else {
      using Wanted = std::conditional_t<Capture::stage == Stage::capped, Function, ProductOnly>;
      scores<typename Form::BlockForm, Wanted>(block, scored, keys, scored.keys, mask::BoundUnmasked(active_keys),
                                               unused);
    }
    capture.template block<Form::BlockForm::query_width>(block.scores, scored.keys, unit);
  }
  capture.fill_from(active_keys);
}

// Computes the output of a single query in several heads of a group. `widened` (QueryBlock::widened) is used only if
// scores are captured.
template <class Form, std::size_t Heads, class BoundMask, class Capture>
constexpr void attend_query_of_heads(const SingleQueries<typename Form::View, Heads>& heads,
                                     [[maybe_unused]] float* widened, [[maybe_unused]] std::size_t active_keys,
                                     const BoundMask& mask, const Capture (&capture)[Heads]) noexcept {
  if constexpr (Capture::scores) {
    for (std::size_t h = 0; h < Heads; ++h) {
      const Head<typename Form::View> head{heads, heads.head + h, heads.sink[h]};
      const QueryBlock block{heads.query + h * Form::BlockForm::head_width, {0, 1}, heads.scores, nullptr, widened};
      capture_scores<Form>(head, block, active_keys, mask, capture[h]);
    }
  }
  attend_single_query<typename Form::Single>(heads, mask, capture);
}

template <class Form, class BoundMask, class Capture>
constexpr void attend_query_block(const Head<typename Form::View>& head, const QueryBlock& block,
                                  std::size_t active_keys, const BoundMask& mask, const Capture& capture) noexcept {
  if constexpr (Capture::scores) capture_scores<Form>(head, block, active_keys, mask, capture);
  if constexpr (Form::is_single) {
    const Capture captures[]{capture};
    attend_single_query<typename Form::Single>(
        SingleQueries<typename Form::View, 1>{head, head.index, {head.sink}, block.query, block.scores, block.out},
        mask, captures);
  } else {
    QueryBlockAttention<Form, BoundMask, Capture>(head, block, mask, capture).run();
  }
}

}  // namespace LADON_NAMESPACE::detail
