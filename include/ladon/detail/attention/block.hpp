// SPDX-License-Identifier: Apache-2.0
// Computes the attention of one query block (the queries of one panel) in one head:
//     for each key block:
//       scores and their maximum          detail/attention/scores.hpp
//       correction of earlier key blocks  detail/attention/softmax.hpp
//       exponentials and weighted sum     detail/attention/values.hpp
//
// "In passes" means that all exponentials of a key block precede its weighted sum. Interleaved exponentials are
// computed between the steps of the sum's first tile. Only AVX-512 with FMA has enough registers to interleave
// (`exponentials_beside_values` in detail/target).
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

// Whether attention computes with integers (detail/cortex_m/m0_attention.hpp), which lose precision in small features:
// only with int8 weights, whose output projection has a larger error of the same kind.
template <class Weights, class Vectors>
inline constexpr bool uses_block_floats = Vectors::uses_block_floats && precision::is_int8<typename Weights::Precision>;
template <class Vectors>
inline constexpr bool uses_block_floats<void, Vectors> = false;

// The types and sizes of the attention of a panel of queries with layout T. D is a description such as AttentionTypes.
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
  static constexpr std::size_t packs = Packs, key_packs = L::keys.packs, key_width = L::keys.width();
  static constexpr std::size_t head_width = shape.head_width, value_width = shape.value_width;
  // A single query has separate kernels, unless panels of keys have only one lane.
  static constexpr bool is_single = is_single_token<Simd, T> && L::keys.lanes > 1;
  static constexpr bool integers = uses_block_floats<typename D::Weights, Vectors> && T.width() == 4 &&
                                   key_width == 4 && head_width <= block_floats::most_width;
  static constexpr Numbers numbers = std::is_same_v<View, PairPanels> ? Numbers::pairs
                                     : std::is_same_v<View, RowsView> ? Numbers::rows
                                     : is_widened<View>               ? Numbers::widened
                                     : integers                       ? Numbers::integers
                                                                      : Numbers::floats;
  using BlockForm =
      QueryBlockForm<Pack, QueryBlockSizes{T, Packs, key_width, head_width, value_width, numbers}, typename Simd::Unit>;
  static constexpr std::size_t key_block = BlockForm::widened ? L::widened_block : L::block;
  static constexpr bool one_key_block = shape.keys <= key_block;
  static constexpr std::size_t softmax_chains = Vectors::softmax_chains;
  static constexpr bool interleaves_exponentials = Vectors::exponentials_beside_values;
};

// Returns the keys or values that the kernels read. For a bfloat16 or int8 cache, returns the key block `range`,
// converted to floats in block.widened. Otherwise, returns all keys or values.
template <class Form, std::size_t Features>
LADON_INLINE constexpr const float* floats_of(const typename Form::View& view, const QueryBlock& block,
                                              Range range) noexcept {
  if constexpr (Form::BlockForm::widened) {
    widen<typename Form::KeyPack, Form::key_width, Features>(view, range, block.widened);
    return block.widened;
  } else if constexpr (Form::BlockForm::uses_pairs || Form::BlockForm::in_rows) {
    return view.data;
  } else {
    return view;
  }
}

template <class Form, class BoundMask>
struct QueryBlockAttention {
  using Pack = typename Form::Pack;
  using BlockForm = typename Form::BlockForm;
  // With a causal mask and two packs of queries, some key blocks end with keys that only the second pack sees. If
  // `halves` is true, the scores of these keys are computed for the second pack only.
  static constexpr bool halves =
      Form::interleaves_exponentials && mask::ends_within_panels<BoundMask> && Form::packs == 2;

  using HeadType = Head<typename Form::View>;
  const HeadType& head;
  const QueryBlock& block;
  const BoundMask& mask;
  const KeyRanges ranges;  // `visible`: some query may see these keys; `unmasked`: every query sees these keys
  Range first_pack_keys;   // keys that the first pack of queries may see; used only if `halves` is true
  RunningSoftmax<Pack, Form::packs> softmax;
  Pack after[Form::packs];  // factors that multiply the weighted sums after the current key block
  bool first_block = true;

  LADON_INLINE constexpr QueryBlockAttention(const HeadType& h, const QueryBlock& b, const BoundMask& m) noexcept
      : head(h),
        block(b),
        mask(m),
        ranges(m.key_ranges(b.queries)),
        first_pack_keys(ranges.visible),
        softmax(Form::Score::sinks ? h.sink[0] : -std::numeric_limits<float>::infinity()) {
    if constexpr (halves) {
      first_pack_keys = m.key_ranges(Range{b.queries.begin, b.queries.begin + Pack::lanes} & b.queries).visible;
    }
  }

  // Key blocks end at multiples of Form::key_block, so sums over keys are rounded in the same way for any number of
  // lanes. The first key block begins where the panel of the first visible key begins. If no key is visible, there is
  // one empty block, so that the kernels write an output.
  LADON_INLINE constexpr void run() noexcept {
    const std::size_t first = ranges.visible.begin / BlockForm::key_width * BlockForm::key_width;
    Range keys{first, first};
    do {
      const std::size_t block_end = (keys.begin / Form::key_block + 1) * Form::key_block;
      keys.end = Form::one_key_block || ranges.visible.end <= block_end ? ranges.visible.end : block_end;
      const bool last = keys.end == ranges.visible.end;
      if constexpr (!Form::one_key_block) {
        if (!last && !mask.may_see_any(block.queries, keys)) continue;
      }
      attend_key_block(keys, last);
      first_block = false;
    } while (!Form::one_key_block && (keys.begin = keys.end) < ranges.visible.end);
  }

 private:
  // Whether a matrix unit computes scores and weighted sums.
  static LADON_INLINE constexpr bool in_unit() noexcept { return BlockForm::fits_unit && BlockForm::Unit::ready(); }
  LADON_INLINE constexpr void attend_key_block(Range keys, bool last) noexcept {
    const ScoreBlock scored{head.index, block.queries, keys};
    // The weight of a hidden key is 0, but 0 times an infinite or NaN value is NaN. If `all_values` is true, no such
    // product can occur, so the weighted sum adds hidden keys, too. With pairs of bfloat16 numbers, a step adds two
    // keys, so `neighbours` ends after a whole pair.
    const Range neighbours{keys.begin, (keys.end + BlockForm::step - 1) / BlockForm::step * BlockForm::step};
    const bool all_values = !BoundMask::hides_keys || head.values_finite || ranges.unmasked.contains(neighbours);
    const bool in_passes = in_unit() || !all_values;
    const Range first_keys = halves && !in_passes ? Range{keys.begin, first_pack_keys.end} & keys : keys;
    score_keys(scored, first_keys.end);
    if constexpr (Form::interleaves_exponentials) {
      // All packs of queries add the values of `first_keys`. Only the last pack adds the values of later keys.
      if (!in_passes) {
        return weighted_sum_of_scores<BlockForm, halves>(floats_of<Form, Form::value_width>(head.values, block, keys),
                                                         block.scores, first_keys, keys.end, softmax, first_block, last,
                                                         after, block.out);
      }
    }
    add_values_in_passes(scored, last, all_values);
  }

  // If `halves` is true, the first pack of queries does not see the keys from `first_pack_end` on.
  LADON_INLINE constexpr void score_keys(const ScoreBlock& scored, std::size_t first_pack_end) noexcept {
    constexpr bool only_block = Form::one_key_block && !Form::Score::sinks;
    Pack before[Form::packs];
    for (std::size_t v = 0; v < Form::packs; ++v) before[v] = softmax.maximum[v];
    scores<BlockForm, typename Form::Function, halves>(block, scored,
                                                       floats_of<Form, Form::head_width>(head.keys, block, scored.keys),
                                                       ranges.unmasked, mask, softmax.maximum, first_pack_end);
    softmax.template begin<only_block>(before);
    const std::size_t keys = scored.keys.end - scored.keys.begin;
    if (!BlockForm::uses_pairs || keys % 2 == 0) return;
    // The missing second key of the last pair gets the score -inf, so that its weight is 0.
    const Pack hidden = Pack::broadcast(-std::numeric_limits<float>::infinity());
    for (std::size_t v = 0; v < Form::packs; ++v) {
      hidden.store(block.scores + keys * BlockForm::query_width + v * Pack::lanes);
    }
  }

  LADON_INLINE constexpr void add_values_in_passes(const ScoreBlock& scored, bool last, bool all_values) noexcept {
    const std::size_t keys = scored.keys.end - scored.keys.begin;
    softmax.template exponentials<BlockForm::query_width, Form::softmax_chains, BlockForm::uses_block_floats,
                                  BlockForm::uses_pairs>(block.scores, keys);
    softmax.multipliers(last, after);
    const Rescale<Pack, Form::packs> rescale{first_block, softmax.correction, after};
    const float* const values = floats_of<Form, Form::value_width>(head.values, block, scored.keys);
    if (!all_values) return weighted_sum_selected<BlockForm>(values, block.scores, scored, rescale, mask, block.out);
    if constexpr (BlockForm::fits_unit) {
      if (in_unit()) {
        return weighted_sum_in_unit<BlockForm>(values, block.scores, scored.keys, rescale, block.out);
      }
    }
    if constexpr (BlockForm::uses_block_floats) {
      if (!std::is_constant_evaluated()) {
        return block_floats::weighted_sum<Form::value_width, Form::packs>(values, block.scores, scored.keys, rescale,
                                                                          block.out, block.words);
      }
    }
    if constexpr (!Form::interleaves_exponentials) {
      weighted_sum<BlockForm>(values, block.scores, scored.keys, rescale, block.out);
    }
  }
};

// Captures scores or weights in a separate pass, so a capture does not change the bits of the attention.
template <class Form, class BoundMask, Stage G>
constexpr void capture_scores(const Head<typename Form::View>& head, const QueryBlock& block, std::size_t active_keys,
                              const BoundMask& mask, const CaptureRows<G>& capture) noexcept {
  using Pack = typename Form::Pack;
  using BlockForm = typename Form::BlockForm;
  using Score = typename Form::Score;
  constexpr bool quotients = Form::Function::capped && G == Stage::scaled;
  using Function = ScoreFunction<Form::shape, std::conditional_t<quotients, Uncapped<Score>, Score>>;
  constexpr float unit = quotients ? Score::softcap : static_cast<float>(1 / score::log2_e);
  if (capture.rows == nullptr) return;
  Pack maximum[Form::packs];
  const float least = Score::sinks ? head.sink[0] : -std::numeric_limits<float>::infinity();
  for (std::size_t v = 0; v < Form::packs; ++v) maximum[v] = Pack::broadcast(least);
  for (std::size_t begin = 0; begin < active_keys; begin += Form::key_block) {
    const ScoreBlock scored{head.index, block.queries, Range{begin, begin + Form::key_block} & Range{0, active_keys}};
    const float* const keys = floats_of<Form, Form::head_width>(head.keys, block, scored.keys);
    if constexpr (G == Stage::masked || G == Stage::weights) {
      scores<BlockForm, Function>(block, scored, keys, {0, 0}, mask, maximum);
    } else {
      scores<BlockForm, Function>(block, scored, keys, scored.keys, mask::BoundUnmasked(active_keys), maximum);
    }
    capture.template block<Pack, BlockForm::query_width>(block.scores, scored.keys);
  }
  float largest[BlockForm::query_width];
  for (std::size_t v = 0; v < Form::packs; ++v) maximum[v].store(largest + v * Pack::lanes);
  capture.template finish<Score, typename Form::KeyPack>(active_keys, unit, largest, head.sink[0]);
}

// Computes the attention of a query block in one head, or of a single query in several heads.
template <class Form, std::size_t Count, class BoundMask>
constexpr void attend_query_block(const QueryHeads<typename Form::View, Count>& heads, const QueryBlock& block,
                                  [[maybe_unused]] std::size_t active_keys, const BoundMask& mask,
                                  const auto& capture_of) noexcept {
  if constexpr (decltype(capture_of(0, block.queries))::captures) {
    for (std::size_t h = 0; h < Count; ++h) {
      QueryBlock of_head = block;
      of_head.query += h * Form::head_width;
      capture_scores<Form>(Head<typename Form::View>{heads, heads.index + h, {heads.sink[h]}}, of_head, active_keys,
                           mask, capture_of(heads.index + h, block.queries));
    }
  }
  if constexpr (Form::is_single) {
    attend_single_query<Form>(heads, block, mask);
  } else {
    QueryBlockAttention<Form, BoundMask>(heads, block, mask).run();
  }
}

}  // namespace LADON_NAMESPACE::detail
