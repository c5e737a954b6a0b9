// SPDX-License-Identifier: Apache-2.0
// Computes the attention of a single query in one head, or in several heads of a group. The lanes of a pack have
// different keys, so each lane sums over every n-th key, where n is the number of lanes. At the end, the sums of the
// lanes are added.
//     query   [heads][head width]        scores  [heads][keys], scratch        out  [heads][value width]
//
// Heads of a group share keys and values, so each pack of keys or values is loaded once for all these heads. The order
// of addition within a head does not depend on the number of heads. Sums over keys are computed in blocks of keys
// (values.hpp). If keys or values exceed the L1 cache, some targets read them in several streams
// (detail/product/single.hpp).
#pragma once

#include <cstddef>
#include <limits>
#include <type_traits>

#include <ladon/detail/attention/operands.hpp>
#include <ladon/detail/attention/softmax.hpp>
#include <ladon/detail/panel/cache_panels.hpp>
#include <ladon/detail/product/single.hpp>
#include <ladon/detail/vec/elementary.hpp>
#include <ladon/detail/vec/load_as_float.hpp>

namespace LADON_NAMESPACE::detail {

template <class View>
using ElementOf = std::remove_cvref_t<decltype(*elements(View{}))>;

// How many keys one sum adds. The sum starts at 0.
template <class Form>
inline constexpr std::size_t single_block = 256 * Form::KeyPack::lanes;

// Computes the products q . k of one query in each of Heads heads. The keys are Packs packs in each of Streams panels,
// which lie `distance` elements apart. `product` is [Heads][Streams][Packs]. Each product is the sum of Sums partial
// sums (1 or 4), which hide the latency of a multiply-add.
template <class Form, std::size_t Heads, std::size_t Streams, std::size_t Packs, std::size_t Sums>
LADON_INLINE constexpr void key_products(const ElementOf<typename Form::View>* keys, std::size_t distance,
                                         const float* query,
                                         typename Form::KeyPack (&product)[Heads * Streams * Packs]) noexcept {
  using Pack = typename Form::KeyPack;
  constexpr std::size_t packs = Streams * Packs, count = Heads * packs;
  Pack sum[Sums][count];
  LADON_UNROLLED_FOR(i, Sums * count) sum[i / count][i % count] = Pack::broadcast(0.0f);
  const auto add = [&](std::size_t feature, std::size_t s) {
    Pack x[Heads];
    LADON_UNROLLED_FOR(h, Heads) {
      x[h] = Pack::broadcast(query[h * Form::head_width + feature]);
      if constexpr (Heads > 1) x[h] = vec::keep_in_register(x[h]);
    }
    LADON_UNROLLED_FOR(i, packs) {
      const Pack loaded =
          vec::load_as_float<Pack>(keys + i / Packs * distance + feature * Form::key_width + i % Packs * Pack::lanes);
      const Pack key = Heads == 1 ? loaded : vec::keep_in_register(loaded);
      LADON_UNROLLED_FOR(h, Heads) sum[s][h * packs + i] = fma(x[h], key, sum[s][h * packs + i]);
    }
  };
  std::size_t feature = 0;
  for (; feature + Sums <= Form::head_width; feature += Sums) {
    LADON_UNROLLED_FOR(s, Sums) add(feature + s, s);
  }
  for (; feature < Form::head_width; ++feature) add(feature, 0);
  static_assert(Sums == 1 || Sums == 4);
  LADON_UNROLLED_FOR(i, count) {
    product[i] = Sums == 1 ? sum[0][i] : (sum[0][i] + sum[1 % Sums][i]) + (sum[2 % Sums][i] + sum[3 % Sums][i]);
  }
}

template <std::size_t KeyWidth, class BoundMask>
constexpr void mask_keys(const BoundMask& mask, const ScoreBlock& scored, float* scores) noexcept {
  using One = vec::ArrayPack<1>;
  typename BoundMask::template Scratch<KeyWidth, 1> scratch;
  const auto lanes = mask.template lanes<One, 1>(scored, scratch);
  for (std::size_t key = scored.keys.begin; key < scored.keys.end; ++key) {
    float& score = scores[key - scored.keys.begin];
    score =
        lanes.may_see(0, key).lane[0] ? lanes.add(0, key, One{score}).lane[0] : -std::numeric_limits<float>::infinity();
  }
}

// Masks the scores of the panel that begins at key `base`. Returns the maximum of `largest` and these scores.
template <class Form, class BoundMask>
LADON_INLINE constexpr auto mask_panel(std::size_t head, const KeyRanges& ranges, const BoundMask& mask,
                                       std::size_t base, float* scores, typename Form::KeyPack largest) noexcept {
  using Pack = typename Form::KeyPack;
  constexpr std::size_t width = Form::key_width;
  const Range keys = Range{base, base + width} & Range{0, ranges.visible.end};
  if (BoundMask::adds_to_scores || !ranges.unmasked.contains(keys))
    mask_keys<width>(mask, {head, {0, 1}, keys}, scores);
  for (std::size_t key = keys.end; key < base + width; ++key) {
    scores[key - base] = -std::numeric_limits<float>::infinity();
  }
  LADON_UNROLLED_FOR(v, Form::key_packs) largest = maximum(largest, Pack::load(scores + v * Pack::lanes));
  return largest;
}

// Returns how many items (streams, rows or packs of keys) fit into registers, at most `most`. Each item has `sums`
// packs for each head (single_query_sums in detail/target). With one head, returns `most`.
constexpr std::size_t fitting_registers(std::size_t most, std::size_t heads, std::size_t sums) noexcept {
  while (heads > 1 && most > 1 && most * heads * sums > target::Current::single_query_sums) most /= 2;
  return most;
}

// Computes the scores of the panels with visible keys. Hidden keys get -inf. Raises `largest[h]` lane by lane.
template <class Form, std::size_t Streams, std::size_t Heads, class BoundMask>
LADON_KERNEL constexpr void single_query_scores(const QueryHeads<typename Form::View, Heads>& heads,
                                                const QueryBlock& block, const KeyRanges& ranges, const BoundMask& mask,
                                                typename Form::KeyPack (&largest)[Heads]) noexcept {
  using Pack = typename Form::KeyPack;
  constexpr std::size_t width = Form::key_width, lanes = Form::KeyPack::lanes, stride = Form::L::all_keys,
                        panel_size = width * Form::head_width;
  const std::size_t start = ranges.visible.begin / width * width;
  const std::size_t panels = ranges.visible.end > start ? (ranges.visible.end - start + width - 1) / width : 0;
  // Computes the scores of panels `panel` + i * `distance`, for i < N. Each product is the sum of Sums partial sums.
  const auto score_panels = [&]<std::size_t N, std::size_t Sums>(std::size_t panel,
                                                                 std::size_t distance) LADON_INLINE_LAMBDA {
    constexpr std::size_t packs = Heads == 1 && Sums > 1 ? 1 : fitting_registers(Form::key_packs, Heads, N * Sums);
    LADON_UNROLL
    for (std::size_t v = 0; v < Form::key_packs; v += packs) {
      Pack product[Heads * N * packs];
      const auto* const first = elements(heads.keys) + (start + panel * width) * Form::head_width + v * lanes;
      key_products<Form, Heads, N, packs, Sums>(first, distance * panel_size, block.query, product);
      LADON_UNROLLED_FOR(i, Heads * N * packs) {
        const std::size_t key = (panel + i % (N * packs) / packs * distance) * width + (v + i % packs) * lanes;
        Form::Function::exponent(times_scale(product[i], heads.keys, start + key))
            .store(block.scores + i / (N * packs) * stride + key);
      }
    }
  };
  const std::size_t panels_per_stream = Streams > 1 ? panels / Streams : 0;
  const std::size_t in_streams = Streams * panels_per_stream;
  for (std::size_t p = 0; p < panels_per_stream; ++p) {
    constexpr std::size_t bytes = panel_size * sizeof(ElementOf<typename Form::View>);
    prefetch_page_starts_of_streams<Streams>(elements(heads.keys) + (start + p * width) * Form::head_width,
                                             panels_per_stream * panel_size, bytes, bytes);
    constexpr std::size_t together = fitting_registers(Streams, Heads, Form::key_packs);
    LADON_UNROLL
    for (std::size_t s = 0; s < Streams; s += together) {
      score_panels.template operator()<together, 1>(p + s * panels_per_stream, panels_per_stream);
    }
  }
  for (std::size_t p = 0; p < panels; ++p) {
    if (p >= in_streams) score_panels.template operator()<1, 4>(p, 0);
    for (std::size_t h = 0; h < Heads; ++h) {
      largest[h] = mask_panel<Form>(heads.index + h, ranges, mask, start + p * width,
                                    block.scores + h * stride + p * width, largest[h]);
    }
  }
}

// Adds value[row][key] * p[h][key] to sum[row * Heads + h] for each row and head. Each stream has `panels` whole panels
// of keys, and streams begin `distance` panels apart. Weights of heads begin `stride` floats apart. Selected: keys with
// the weight -1 are skipped. With an int8 cache, weights are multiplied by the scales of the values.
template <class Form, std::size_t Heads, std::size_t Streams, bool Selected>
LADON_KERNEL constexpr void weighted_sum_of_streams(typename Form::View values, const float* p, std::size_t panels,
                                                    std::size_t distance,
                                                    typename Form::KeyPack (&sum)[Form::value_width * Heads]) noexcept {
  using Pack = typename Form::KeyPack;
  constexpr std::size_t lanes = Form::KeyPack::lanes, width = Form::key_width, stride = Form::L::all_keys,
                        rows = Form::value_width;
  constexpr std::size_t panel_packs = Form::key_packs, packs = Streams * panel_packs;
  for (std::size_t panel = 0; panel < panels; ++panel) {
    Pack weight[Heads][packs];
    [[maybe_unused]] typename Pack::Mask counts[Heads][packs];
    LADON_UNROLLED_FOR(i, Heads * packs) {
      const std::size_t key = (i % packs / panel_packs * distance + panel) * width + i % panel_packs * lanes;
      const Pack w = Pack::load(p + i / packs * stride + key);
      weight[i / packs][i % packs] = times_scale(w, values, key);
      if constexpr (Selected) counts[i / packs][i % packs] = Pack::broadcast(0.0f) <= w;
    }
    constexpr std::size_t bytes = rows * width * sizeof(ElementOf<typename Form::View>);
    prefetch_page_starts_of_streams<Streams>(elements(values) + panel * rows * width, distance * rows * width, bytes,
                                             bytes);
    for (std::size_t row = 0; row < rows; ++row) {
      const auto* const first = elements(values) + (panel * rows + row) * width;
      Pack row_sum[Heads];
      LADON_UNROLLED_FOR(h, Heads) row_sum[h] = sum[row * Heads + h];
      LADON_UNROLLED_FOR(i, packs) {
        const Pack loaded =
            vec::load_as_float<Pack>(first + i / panel_packs * distance * rows * width + i % panel_packs * lanes);
        const Pack value = Heads == 1 ? loaded : vec::keep_in_register(loaded);
        LADON_UNROLLED_FOR(h, Heads) {
          const Pack added = fma(value, weight[h][i], row_sum[h]);
          if constexpr (Selected) {
            row_sum[h] = blend(counts[h][i], added, row_sum[h]);
          } else {
            row_sum[h] = added;
          }
        }
      }
      LADON_UNROLLED_FOR(h, Heads) sum[row * Heads + h] = row_sum[h];
    }
  }
}

// Adds value[row][key] * p[h][key] to sum[h * Rows + row - first_row], for Rows rows from `first_row` on. `keys` begins
// at the first key of a pack. `p` begins with the weight of key `start`. Skips keys outside `visible`. Selected: also
// skips keys with the weight -1.
template <class Form, std::size_t Heads, std::size_t Rows, bool Selected, std::size_t Sums>
LADON_INLINE constexpr void add_weighted_keys(const typename Form::View& values, std::size_t first_row, const float* p,
                                              std::size_t start, Range keys, Range visible,
                                              typename Form::KeyPack (&sum)[Sums]) noexcept {
  static_assert(Sums >= Heads * Rows);
  using Pack = typename Form::KeyPack;
  constexpr std::size_t lanes = Form::KeyPack::lanes, width = Form::key_width;
  for (std::size_t base = keys.begin; base < keys.end; base += lanes) {
    const auto* const panel =
        elements(values) + first_row * width + base / width * width * Form::value_width + base % width;
    Pack weight[Heads], scaled[Heads];
    LADON_UNROLLED_FOR(h, Heads) {
      weight[h] = Pack::load(p + h * Form::L::all_keys + base - start);
      scaled[h] = times_scale(weight[h], values, base);
    }
    if (!Selected && visible.contains({base, base + lanes})) {
      LADON_UNROLLED_FOR(r, Rows) {
        const Pack loaded = vec::load_as_float<Pack>(panel + r * width);
        const Pack value = Heads == 1 ? loaded : vec::keep_in_register(loaded);
        LADON_UNROLLED_FOR(h, Heads) sum[h * Rows + r] = fma(value, scaled[h], sum[h * Rows + r]);
      }
    } else {
      const Pack key = Pack::lane_index() + Pack::broadcast(static_cast<float>(base));
      const auto in_range = (key < Pack::broadcast(static_cast<float>(visible.end))) &
                            (Pack::broadcast(static_cast<float>(visible.begin)) <= key);
      LADON_UNROLLED_FOR(h, Heads) {
        const auto counts = in_range & (Pack::broadcast(0.0f) <= weight[h]);
        LADON_UNROLLED_FOR(r, Rows) {
          Pack& row_sum = sum[h * Rows + r];
          row_sum = blend(counts, fma(vec::load_as_float<Pack>(panel + r * width), scaled[h], row_sum), row_sum);
        }
      }
    }
  }
}

// Computes out[h][row] = factor[h] * (sum of value[row][key] * p[h][key] over the visible keys).
//
// Streams add panels that lie completely in the visible range, and add_weighted_keys adds all other keys. The order of
// addition does not depend on Selected, so a hidden value never changes the bits of `out`.
template <class Form, bool Selected, std::size_t Streams, std::size_t Heads>
LADON_KERNEL constexpr void single_query_weighted_sum(typename Form::View values, const float* p, Range visible,
                                                      const float (&factor)[Heads], float* out) noexcept {
  using Pack = typename Form::KeyPack;
  constexpr std::size_t width = Form::key_width, lanes = Form::KeyPack::lanes, value_width = Form::value_width;
  constexpr bool streamed = Streams > 1;
  const std::size_t start = visible.begin / width * width;
  [[maybe_unused]] Pack stream_sum[streamed ? value_width * Heads : 1];
  Range done{start, start};
  if constexpr (streamed) {
    const std::size_t first = (visible.begin + width - 1) / width, end = visible.end / width;
    const std::size_t panels_per_stream = first < end ? (end - first) / Streams : 0;
    if (panels_per_stream > 0) done = {first * width, (first + Streams * panels_per_stream) * width};
    constexpr std::size_t panels_per_block = single_block<Form> / (Streams * width);
    for (std::size_t i = 0; i < value_width * Heads; ++i) stream_sum[i] = Pack::broadcast(0.0f);
    for (std::size_t panel = 0; panel < panels_per_stream; panel += panels_per_block) {
      const std::size_t left = panels_per_stream - panel, keys = done.begin + panel * width;
      Pack block_sum[value_width * Heads];
      for (std::size_t i = 0; i < value_width * Heads; ++i) block_sum[i] = Pack::broadcast(0.0f);
      weighted_sum_of_streams<Form, Heads, Streams, Selected>(skip<value_width>(values, keys), p + keys - start,
                                                              left < panels_per_block ? left : panels_per_block,
                                                              panels_per_stream, block_sum);
      for (std::size_t i = 0; i < value_width * Heads; ++i) stream_sum[i] = stream_sum[i] + block_sum[i];
    }
  }
  // Adds the keys that no stream has added. sum[h * Rows + r] belongs to head h and row `row` + r.
  const auto add_rest = [&]<std::size_t Rows>(std::size_t row, auto& sum) LADON_INLINE_LAMBDA {
    if constexpr (streamed) {
      add_weighted_keys<Form, Heads, Rows, Selected>(values, row, p, start, {start, done.begin}, visible, sum);
    }
    const Range rest{done.end, visible.end};
    if constexpr (streamed || Form::shape.keys <= single_block<Form>) {
      add_weighted_keys<Form, Heads, Rows, Selected>(values, row, p, start, rest, visible, sum);
    } else {
      for (std::size_t base = rest.begin; base < rest.end; base += single_block<Form>) {
        Pack block_sum[Heads * Rows];
        LADON_UNROLLED_FOR(i, Heads * Rows) block_sum[i] = Pack::broadcast(0.0f);
        add_weighted_keys<Form, Heads, Rows, Selected>(
            values, row, p, start, Range{base, base + single_block<Form>} & rest, visible, block_sum);
        LADON_UNROLLED_FOR(i, Heads * Rows) sum[i] = sum[i] + block_sum[i];
      }
    }
  };
  const auto begin = [&](std::size_t row, std::size_t h) LADON_INLINE_LAMBDA {
    return streamed ? stream_sum[streamed ? row * Heads + h : 0] : Pack::broadcast(0.0f);
  };
  for_row_tiles<value_width, lanes>([&]<std::size_t Rows>(std::size_t row) {
    Pack sum[Heads][lanes];
    LADON_UNROLLED_FOR(i, Heads * lanes) sum[i / lanes][i % lanes] = Pack::broadcast(0.0f);
    for_row_tiles<Rows, fitting_registers(lanes, Heads, 1)>(
        [&]<std::size_t FewRows>(std::size_t first) LADON_INLINE_LAMBDA {
          Pack few_sums[Heads * FewRows];
          LADON_UNROLLED_FOR(i, Heads * FewRows) few_sums[i] = begin(row + first + i % FewRows, i / FewRows);
          add_rest.template operator()<FewRows>(row + first, few_sums);
          LADON_UNROLLED_FOR(i, Heads * FewRows) sum[i / FewRows][first + i % FewRows] = few_sums[i];
        });
    LADON_UNROLLED_FOR(h, Heads) {
      const Pack total = Pack::add_rows(sum[h]) * Pack::broadcast(factor[h]);
      if constexpr (Rows == lanes) {
        total.store(out + h * value_width + row);
      } else {
        total.store_partial(out + h * value_width + row, Rows);
      }
    }
  });
}

// Computes the output of a single query in several heads. Selected: skips hidden keys. This is needed if the mask hides
// keys and a value may be infinite or NaN, because 0 times such a value is NaN.
template <class Form, bool Selected, std::size_t Heads, class BoundMask>
constexpr void attend_values(const QueryHeads<typename Form::View, Heads>& heads, const QueryBlock& block,
                             const BoundMask& mask) noexcept {
  using Pack = typename Form::KeyPack;
  constexpr std::size_t most = target::Current::streams, bytes = sizeof(ElementOf<typename Form::View>);
  constexpr std::size_t key_streams = reads_streams(Form::shape.keys * Form::head_width, bytes) ? most : 1;
  constexpr std::size_t value_streams = reads_streams(Form::shape.keys * Form::value_width, bytes) ? most : 1;
  const KeyRanges ranges = mask.key_ranges({0, 1});
  const Range visible = ranges.visible;
  const std::size_t start = visible.begin / Form::key_width * Form::key_width;
  Pack largest[Heads];
  for (std::size_t h = 0; h < Heads; ++h) {
    largest[h] = Pack::broadcast(Form::Score::sinks ? heads.sink[h] : -std::numeric_limits<float>::infinity());
  }
  single_query_scores<Form, key_streams>(heads, block, ranges, mask, largest);
  float factor[Heads];
  for (std::size_t h = 0; h < Heads; ++h) {
    SingleQuerySoftmax<typename Form::Score, Pack> softmax(largest[h]);
    if (visible.end > start) {
      softmax.template exponentials<Selected, single_block<Form>>(block.scores + h * Form::L::all_keys,
                                                                  visible.end - start);
    }
    factor[h] = softmax.reciprocal_sum(heads.sink[h]);
  }
  single_query_weighted_sum<Form, Selected, value_streams>(heads.values, block.scores, visible, factor, block.out);
}
template <class Form, std::size_t Heads, class BoundMask>
constexpr void attend_single_query(const QueryHeads<typename Form::View, Heads>& heads, const QueryBlock& block,
                                   const BoundMask& mask) noexcept {
  if (!BoundMask::hides_keys || heads.values_finite) {
    attend_values<Form, false>(heads, block, mask);
  } else {
    attend_values<Form, true>(heads, block, mask);
  }
}

}  // namespace LADON_NAMESPACE::detail
