// Masks that add to the scores: numbers for each pair (a bias; -inf hides), and ALiBi.
//
// Scores are exponents of two (score.hpp), so log2(e) joins what is added: a finite number stays finite then, for
// only -inf hides. (Hugging Face masks with the lowest float: a row of nothing else is a mean over its keys.)
#pragma once

#include <array>
#include <cstddef>
#include <limits>
#include <type_traits>

#include <ladon/checks.hpp>
#include <ladon/mask/window.hpp>
#include <ladon/score.hpp>

namespace ladon::inline LADON_ABI::mask {

// What is added to a score, as an exponent of two. What is finite stays so; +inf counts as the largest float.
template <class Pack>
LADON_INLINE constexpr Pack to_exponent(const Pack& value) noexcept {
  using Limits = std::numeric_limits<float>;
  const Pack scaled = value * Pack::broadcast(static_cast<float>(score::log2_e));
  const Pack finite = min(Pack::broadcast(Limits::max()), max(Pack::broadcast(Limits::lowest()), scaled));
  const Pack masked = Pack::broadcast(-Limits::infinity());
  return select(value == masked, masked, finite);
}

// The numbers of a panel of queries, with the queries in the lanes: [keys][Width].
template <std::size_t KeyWidth, std::size_t Width>
struct PairScratch {
  alignas(64) float values[KeyWidth * Width];
};
template <class Pack, std::size_t Width>
struct AddedLanes {
  const float* values;
  std::size_t first;  // key
  LADON_INLINE constexpr Pack at(std::size_t v, std::size_t key) const noexcept {
    return Pack::load(values + (key - first) * Width + v * Pack::lanes);
  }
  LADON_INLINE constexpr typename Pack::Mask may_see(std::size_t v, std::size_t key) const noexcept {
    return !(at(v, key) == Pack::broadcast(-std::numeric_limits<float>::infinity()));  // NaN hides nothing
  }
  // The sum of two finite numbers stays finite; a score that overflowed to -inf by itself stays that.
  LADON_INLINE constexpr Pack add(std::size_t v, std::size_t key, const Pack& score) const noexcept {
    const Pack sum = max(Pack::broadcast(std::numeric_limits<float>::lowest()), score + at(v, key));
    return select(score == Pack::broadcast(-std::numeric_limits<float>::infinity()), score, sum);
  }
};

template <bool PerHead>
struct AddedBound {
  static constexpr bool hides_keys = true;
  static constexpr bool adds = true;
  static constexpr bool ends_within_panels = false;
  template <std::size_t KeyWidth, std::size_t Width>
  using Scratch = PairScratch<KeyWidth, Width>;
  const float* values;
  std::size_t queries;  // rows of a head, in all
  std::size_t columns;  // of a row
  std::size_t keys;     // the run's, at most the columns

  constexpr VisibleKeys panel(Range) const noexcept { return {{0, keys}, {0, 0}}; }
  constexpr bool any(Range, Range) const noexcept { return true; }

  // Squares of lanes x lanes turned in registers; a null pointer adds nothing.
  template <class Pack, std::size_t Width, std::size_t KeyWidth>
  LADON_INLINE constexpr AddedLanes<Pack, Width> lanes(const Slice& slice,
                                                       PairScratch<KeyWidth, Width>& scratch) const noexcept {
    fill<Pack, Width, KeyWidth>(slice, scratch.values);
    return {scratch.values, slice.keys.begin};
  }

 private:
  template <class Pack, std::size_t Width, std::size_t KeyWidth>
  LADON_NOINLINE constexpr void fill(const Slice& slice, float* to) const noexcept {
    const std::size_t rest = slice.keys.begin < keys ? keys - slice.keys.begin : 0;
    const std::size_t active = rest < KeyWidth ? rest : KeyWidth;
    const float* const rows =
        values == nullptr || active == 0
            ? nullptr
            : values + ((PerHead ? slice.head * queries : 0) + slice.queries.begin) * columns + slice.keys.begin;
    for (std::size_t q = 0; q < Width; q += Pack::lanes) {
      const std::size_t used = slice.queries.end - slice.queries.begin;
      for (std::size_t key = 0; key < active; key += Pack::lanes) {
        turn<Pack, Width>(rows == nullptr || q >= used ? nullptr : rows + q * columns + key, used - q, active - key,
                          to + key * Width + q);
      }
    }
    for (std::size_t i = active * Width; i < KeyWidth * Width; ++i) {
      to[i] = -std::numeric_limits<float>::infinity();
    }
  }

  template <class Pack, std::size_t Width>
  LADON_INLINE constexpr void turn(const float* rows, std::size_t used, std::size_t active, float* to) const noexcept {
    constexpr std::size_t lanes = Pack::lanes;
    const std::size_t count = active < lanes ? active : lanes;
    Pack square[lanes];
    LADON_UNROLL
    for (std::size_t r = 0; r < lanes; ++r) {
      if (rows == nullptr || r >= used) {
        square[r] = Pack::broadcast(0.0f);
      } else {
        square[r] = count == lanes ? Pack::load(rows + r * columns) : Pack::load_partial(rows + r * columns, count);
      }
    }
    Pack::transpose(square);
    LADON_UNROLL
    for (std::size_t c = 0; c < lanes; ++c) {
      if (c < count) to_exponent(square[c]).store(to + c * Width);
    }
  }
};

// Numbers [queries][keys], or [heads][queries][keys], in the units of the scores. With .keys = n they have n columns,
// and keys beyond them are hidden (as ONNX's Attention has it since 24). A null pointer adds nothing.
template <bool PerHead>
struct Added {
  template <Shape S>
  struct Data {
    std::conditional_t<PerHead, Tensor<const float, S.heads, S.queries, S.keys>, Matrix<const float, S.queries, S.keys>>
        values;
    std::size_t keys = all;
  };
  template <Shape S>
  static constexpr AddedBound<PerHead> bind(const Placement& run, const Data<S>& data) noexcept {
    LADON_EXPECTS(data.keys == all || data.keys <= S.keys, "ladon: a mask has no more columns than the shape has keys");
    const std::size_t columns = data.keys == all ? S.keys : data.keys;
    return {data.values.data, S.queries, columns, run.lengths.keys < columns ? run.lengths.keys : columns};
  }
};
struct Additive : Added<false> {};
struct AdditivePerHead : Added<true> {};

// ALiBi (arXiv 2108.12409): slope * (key - position of the query) joins each score; it hides nothing. Slopes [heads];
// a null pointer stands for the paper's, 2^(-8 (h + 1) / heads), and where heads are no power of two its authors'
// interpolation: those of the next smaller power, then every other one of the next larger.
struct Alibi {
  template <Shape S>
  struct Data {
    Vector<const float, S.heads> slopes;
    std::ptrdiff_t offset = usual_offset;
  };

  template <class Pack>
  struct Lanes {
    std::size_t first;  // query
    std::ptrdiff_t offset;
    float slope;
    LADON_INLINE constexpr typename Pack::Mask may_see(std::size_t, std::size_t) const noexcept {
      return Pack::every_lane(true);
    }
    LADON_INLINE constexpr Pack add(std::size_t v, std::size_t key, const Pack& score) const noexcept {
      const std::ptrdiff_t from_first =
          static_cast<std::ptrdiff_t>(key) - offset - static_cast<std::ptrdiff_t>(first + v * Pack::lanes);
      const Pack distance = Pack::broadcast(static_cast<float>(from_first)) - Pack::lane_index();
      return fma(Pack::broadcast(slope), distance, score);
    }
  };
  struct Bound {
    static constexpr bool hides_keys = false;
    static constexpr bool adds = true;
    static constexpr bool ends_within_panels = false;
    template <std::size_t KeyWidth, std::size_t Width>
    using Scratch = NoScratch;
    const float* slopes;
    std::ptrdiff_t offset;
    std::size_t keys;
    constexpr VisibleKeys panel(Range) const noexcept { return {{0, keys}, {0, keys}}; }
    constexpr bool any(Range, Range) const noexcept { return true; }
    template <class Pack, std::size_t Width>
    LADON_INLINE constexpr Lanes<Pack> lanes(const Slice& slice, NoScratch&) const noexcept {
      return {slice.queries.begin, offset, slopes[slice.head] * static_cast<float>(score::log2_e)};
    }
  };
  template <std::size_t Heads>
  static constexpr std::array<float, Heads> usual_slopes = [] {
    std::size_t power = 1;
    double ratio = 1.0 / 256;  // 2^(-8 / power)
    const auto root = [](double x) {
      double r = 1;
      for (double next = (r + x / r) / 2; next < r; next = (r + x / r) / 2) r = next;
      return r;
    };
    for (; power * 2 <= Heads; power *= 2) ratio = root(ratio);
    std::array<float, Heads> slopes{};
    double slope = 1;
    for (std::size_t h = 0; h < power; ++h) slopes[h] = static_cast<float>(slope *= ratio);
    slope = root(ratio);
    for (std::size_t h = power; h < Heads; ++h, slope *= ratio) slopes[h] = static_cast<float>(slope);
    return slopes;
  }();
  template <Shape S>
  static constexpr Bound bind(const Placement& run, const Data<S>& data) noexcept {
    const float* const given = data.slopes.data;
    return {given == nullptr ? usual_slopes<S.heads>.data() : given, offset_of(run, data.offset), run.lengths.keys};
  }
};

}  // namespace ladon::inline LADON_ABI::mask
