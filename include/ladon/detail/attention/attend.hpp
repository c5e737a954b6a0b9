// Attention of one query block to one head: scores, softmax, weighted sum, key block after key block.
//
//     for each key block:
//       scores                       detail/attention/scores.hpp
//       maximum, correction          detail/attention/softmax.hpp
//       exponentials, weighted sum   detail/attention/weighted_sum.hpp, by one of two strategies:
//         in passes     the exponentials of all keys, then the weighted sum
//         interleaved   the exponentials next to the first tile of the weighted sum, where there are registers for both
//
// A single query has kernels of its own (detail/attention/single_query.hpp).
#pragma once

#include <cstddef>
#include <type_traits>

#include <ladon/checks.hpp>
#include <ladon/detail/attention/capture.hpp>
#include <ladon/detail/attention/key_blocks.hpp>
#include <ladon/detail/attention/query_block.hpp>
#include <ladon/detail/attention/score_function.hpp>
#include <ladon/detail/attention/scores.hpp>
#include <ladon/detail/attention/single_query.hpp>
#include <ladon/detail/attention/softmax.hpp>
#include <ladon/detail/attention/weighted_sum.hpp>
#include <ladon/detail/mask/additive.hpp>
#include <ladon/detail/mask/key_ranges.hpp>
#include <ladon/detail/mask/none.hpp>

namespace ladon::inline LADON_ABI::detail {

// Returns the sink of a head as an exponent of two.
template <class Score, class Sinks>
constexpr float sink_of(const Sinks& sinks, std::size_t head) noexcept {
  if constexpr (Score::sinks) {
    LADON_EXPECTS(sinks.data != nullptr, "ladon: this score has sinks: options.sinks");
    return to_exponent(simd::ArrayPack<1>{sinks.data[head]}).lane[0];
  } else {
    return 0;
  }
}

// What attention of a query block is compiled for.
template <Shape S, class ScoreType, class Target, class PackType, std::size_t Packs>
struct AttendForm {
  using L = PanelLayout<S, Target>;
  using Pack = PackType;
  using Block = QueryBlockForm<Pack, Packs, L::queries, L::keys.width(), S.head_width, S.value_width>;
  using Score = ScoreType;
  using Function = ScoreFunction<S, Score>;
  static constexpr std::size_t packs = Packs;
  static constexpr std::size_t key_block = L::block;  // keys
  static constexpr bool one_key_block = S.keys <= key_block;
  static constexpr std::size_t softmax_chains = Target::softmax_chains;
  static constexpr bool interleaves_exponentials = Target::exponentials_beside_values;
};

// The state of a query block between two key blocks.
template <class Form>
struct AttendState {
  using Pack = typename Form::Pack;
  RunningSoftmax<Pack, Form::packs> softmax;
  Pack after[Form::packs];  // what the sums are multiplied by after the current key block
  bool first = true;        // no key block was computed yet
};

// Computes the scores of a key block and rescales the running softmax to their maximum.
template <class Form, bool Halves, class BoundMask>
LADON_INLINE constexpr void score_key_block(const Head& head, const QueryBlock& block, const ScoreBlock& scored,
                                            Range unmasked, const BoundMask& mask, std::size_t first_pack_end,
                                            AttendState<Form>& state) noexcept {
  using Pack = typename Form::Pack;
  constexpr bool only_block = Form::one_key_block && !Form::Score::sinks;
  Pack before[Form::packs];
  for (std::size_t v = 0; v < Form::packs; ++v) before[v] = state.softmax.maximum[v];
  scores<typename Form::Block, typename Form::Function, Halves>(block, scored, head.keys, unmasked, mask,
                                                                state.softmax.maximum, first_pack_end);
  state.softmax.template begin<only_block>(before);
}

// Adds a key block's values: the exponentials of all keys in one pass, then the weighted sum. all_values: every key
// counts for every query, or every value is finite.
template <class Form, class BoundMask>
LADON_INLINE constexpr void add_values_in_passes(const Head& head, const QueryBlock& block, const ScoreBlock& scored,
                                                 bool last, bool all_values, const BoundMask& mask,
                                                 AttendState<Form>& state) noexcept {
  using Pack = typename Form::Pack;
  auto& softmax = state.softmax;
  softmax.template exponentials<Form::Block::query_width, Form::softmax_chains>(block.scores,
                                                                                scored.keys.end - scored.keys.begin);
  softmax.multipliers(last, state.after);
  const Rescale<Pack, Form::packs> rescale{state.first, softmax.correction, state.after};
  if (!all_values) {
    weighted_sum_selected<typename Form::Block>(head.values, block.scores, scored, rescale, mask, block.out);
  } else if constexpr (!Form::interleaves_exponentials) {
    weighted_sum<typename Form::Block>(head.values, block.scores, scored.keys, rescale, block.out);
  }
}

// Adds a key block's values: the exponentials are computed next to the first tile of the weighted sum. Keys from the
// end of first_pack_keys on count for the last pack only.
template <class Form, bool Halves>
LADON_INLINE constexpr void add_values_interleaved(const Head& head, const QueryBlock& block, Range first_pack_keys,
                                                   std::size_t end, bool last, AttendState<Form>& state) noexcept {
  weighted_sum_of_scores<typename Form::Block, Halves>(head.values, block.scores, first_pack_keys, end, state.softmax,
                                                       state.first, last, state.after, block.out);
}

// Computes O^T of one query block.
template <class Form, class BoundMask, class Capture>
constexpr void attend_query_block(const Head& head, const QueryBlock& block, const BoundMask& mask,
                                  const Capture& capture) noexcept {
  // Where the first pack of queries sees no key from some point on, as under a causal mask on the diagonal, the rest
  // is computed for the other pack only. Capture asks for all.
  constexpr bool halves =
      Form::interleaves_exponentials && BoundMask::ends_within_panels && Form::packs == 2 && !Capture::weights;
  const KeyRanges ranges = mask.key_ranges(block.queries);
  std::size_t first_pack_end = 0;
  if constexpr (halves) {
    const std::size_t begin = block.queries.begin;
    first_pack_end = mask.key_ranges(Range{begin, begin + Form::Pack::lanes} & block.queries).visible.end;
  }
  AttendState<Form> state;
  if constexpr (Form::Score::sinks) state.softmax = decltype(state.softmax)(head.sink);
  KeyBlocks<Form::Block::key_width, Form::key_block, Form::one_key_block> key_blocks(ranges.visible);
  do {
    const Range keys = key_blocks.keys();
    const bool last = key_blocks.is_last();
    if constexpr (!Form::one_key_block && !Capture::weights) {
      if (!last && !mask.may_see_any(block.queries, keys)) continue;
    }
    const ScoreBlock scored{head.index, block.queries, keys};
    const bool all_values = !BoundMask::hides_keys || head.values_finite || ranges.unmasked.contains(keys);
    const Range first_pack_keys = halves && all_values ? Range{keys.begin, first_pack_end} & keys : keys;
    score_key_block<Form, halves>(head, block, scored, ranges.unmasked, mask, first_pack_keys.end, state);
    if (Form::interleaves_exponentials && all_values) {
      if constexpr (Form::interleaves_exponentials) {
        add_values_interleaved<Form, halves>(head, block, first_pack_keys, keys.end, last, state);
      }
    } else {
      add_values_in_passes<Form>(head, block, scored, last, all_values, mask, state);
    }
    if constexpr (Capture::weights) {
      capture.template block<Form::Block::query_width>(block.scores, key_blocks.earlier(), keys,
                                                       state.softmax.correction);
    }
    state.first = false;
  } while (key_blocks.advance());
  if constexpr (Capture::weights) capture.template finish<Form::Block::query_width>(ranges.visible, state.after);
}

// Captures the scores of a query block before the softmax. They are computed separately and for all active keys, so
// that the result is the same with and without capture.
template <class Form, class BoundMask, class Capture>
constexpr void capture_scores(const Head& head, const QueryBlock& block, std::size_t active_keys, const BoundMask& mask,
                              const Capture& capture) noexcept {
  using Pack = typename Form::Pack;
  using Function = typename Form::Function;
  constexpr bool quotients = Function::capped && Capture::stage == Stage::scaled;
  constexpr float unit = quotients ? Form::Score::softcap : static_cast<float>(1 / score::log2_e);
  Pack unused[Form::packs];
  for (std::size_t v = 0; v < Form::packs; ++v) unused[v] = Pack::broadcast(0.0f);
  for (std::size_t begin = 0; begin < active_keys; begin += Form::key_block) {
    const ScoreBlock scored{head.index, block.queries, Range{begin, begin + Form::key_block} & Range{0, active_keys}};
    if constexpr (Capture::stage == Stage::masked) {
      scores<typename Form::Block, Function>(block, scored, head.keys, {0, 0}, mask, unused);
    } else {
      using Wanted = std::conditional_t<Capture::stage == Stage::capped, Function, ProductOnly>;
      scores<typename Form::Block, Wanted>(block, scored, head.keys, scored.keys, BoundNone(active_keys), unused);
    }
    capture.template block<Form::Block::query_width>(block.scores, scored.keys, unit);
  }
  capture.fill_from(active_keys);
}

// Computes O^T of one query block, whose tokens fill Packs packs, by the kernels for several queries or for one.
template <Shape S, class Score, class Target, class Simd, std::size_t Packs, class BoundMask, class Capture>
constexpr void attend(const Head& head, const QueryBlock& block, std::size_t active_keys, const BoundMask& mask,
                      const Capture& capture) noexcept {
  using L = PanelLayout<S, Target>;
  using Form = AttendForm<S, Score, Target, typename Simd::template Pack<L::queries.lanes>, Packs>;
  if constexpr (Capture::scores) capture_scores<Form>(head, block, active_keys, mask, capture);
  if constexpr (is_single_token<Simd, L::queries> && L::keys.lanes > 1) {
    using KeyPack = typename Simd::template Pack<L::keys.lanes>;
    if (!BoundMask::hides_keys || head.values_finite) {
      attend_single_query<false, S, Score, KeyPack, L::keys>(head, block, mask, capture);
    } else {
      attend_single_query<true, S, Score, KeyPack, L::keys>(head, block, mask, capture);
    }
  } else {
    attend_query_block<Form>(head, block, mask, capture);
  }
}

}  // namespace ladon::inline LADON_ABI::detail
