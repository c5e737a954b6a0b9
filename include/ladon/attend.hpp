// Attend: one head, one panel of queries. Score, softmax and weigh in turn, block of keys by block of keys, so that
// workspace never grows with queries x keys.
#pragma once

#include <cstddef>

#include <ladon/kernel/capture.hpp>
#include <ladon/kernel/score.hpp>
#include <ladon/kernel/softmax.hpp>
#include <ladon/kernel/weigh.hpp>
#include <ladon/mask.hpp>
#include <ladon/panels.hpp>

namespace ladon::inline LADON_ABI::kernel {

// Keys and values of one head, in panels: what its queries attend to.
struct Head {
  const float* keys;
  const float* values;
  bool values_finite;
};

// O^T panel [value width][width] of one panel of queries from their Q^T panel [head width][width].
template <Shape S, class Target, class Pack, std::size_t Packs, class Bound, class Capture>
constexpr void attend(const Head& head, const float* query, Range queries, const Bound& mask, float* scores, float* out,
                      const Capture& capture) noexcept {
  using L = PanelLayout<S, Target>;
  constexpr std::size_t width = L::queries.width(), key_width = L::keys.width();
  constexpr bool one_block = S.keys <= L::block;
  constexpr std::size_t rows = L::queries.rows;

  const VisibleKeys visible = mask.panel(queries);
  const Pack lane = Pack::lane_index();
  const auto may_see = [&](std::size_t v, std::size_t key) {
    // Blocks begin where a panel of keys does, so keys before the first that is seen may be among them.
    if (key < visible.seen.begin) return Pack::every_lane(false);
    return mask.may_see(lane + Pack::broadcast(static_cast<float>(queries.begin + v * Pack::lanes)), key);
  };
  RunningSoftmax<Pack, Packs> softmax;
  Pack after[Packs];
  const std::size_t start = visible.seen.begin / key_width * key_width;
  std::size_t begin = start;
  do {
    // Blocks end at the same keys however wide panels are: so do the sums' roundings, and lane counts give equal bits.
    const std::size_t block_end = (begin / L::block + 1) * L::block;
    const Range range{begin, one_block || visible.seen.end <= block_end ? visible.seen.end : block_end};
    const bool last = range.end == visible.seen.end;
    Pack before[Packs];
    for (std::size_t v = 0; v < Packs; ++v) before[v] = softmax.maximum[v];
    score<Pack, rows, Packs, width, key_width, S.head_width>(head.keys, query, range, visible.clear, may_see, scores,
                                                             softmax.maximum);
    softmax.template exponentials<width>(scores, range.end - range.begin, before);
    for (std::size_t v = 0; v < Packs; ++v) after[v] = last ? softmax.reciprocal_sum(v) : Pack::broadcast(1.0f);
    const Rescale<Pack, Packs> rescale{begin == start, softmax.correction, after};
    if (!Bound::hides_keys || head.values_finite || visible.clear.contains(range)) {
      weigh<Pack, rows, Packs, width, key_width, S.value_width>(head.values, scores, range, rescale, out);
    } else {
      weigh_selected<Pack, Packs, width, key_width, S.value_width>(head.values, scores, range, rescale, may_see, out);
    }
    if constexpr (Capture::wanted) capture.template block<width>(scores, {start, begin}, range, softmax.correction);
    begin = range.end;
  } while (!one_block && begin < visible.seen.end);
  if constexpr (Capture::wanted) capture.template finish<width>(visible.seen, after);
}

}  // namespace ladon::inline LADON_ABI::kernel
