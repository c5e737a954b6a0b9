// SPDX-License-Identifier: Apache-2.0
// The keys or the values of one head in a cache (key_value_cache.hpp), in panels. Kernels read the panels through a
// view: const float*, const BFloat16* or Int8Tokens.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <type_traits>

#include <ladon/bfloat16.hpp>
#include <ladon/detail/panel/panels.hpp>
#include <ladon/detail/panel/quantise_weights.hpp>
#include <ladon/detail/vec/elementary.hpp>
#include <ladon/detail/vec/load_as_float.hpp>
#include <ladon/shape.hpp>

namespace LADON_NAMESPACE::detail {

// A feature of token t is its integer in `data` times scale[t]. If a feature is infinite or NaN, scale[t] is NaN.
struct Int8Tokens {
  const std::int8_t* data;  // [panels][features][width]
  const float* scale;       // [tokens]
};

// Returns the offset of feature 0 of the token in `slot`.
template <PanelLayout T, std::size_t Features>
LADON_INLINE constexpr std::size_t slot_offset(std::size_t slot) noexcept {
  return slot / T.width() * T.width() * Features + slot % T.width();
}

// Storage for Tokens tokens:
//     store    rounds the token at `features`, whose features are `distance` floats apart, and writes it to `slot`
//     finite   returns whether all features of the token in `slot` are finite
template <std::size_t Tokens, std::size_t Features, PanelLayout T, CachePrecision P>
struct alignas(64) CachePanels {
  using Element = std::conditional_t<P == CachePrecision::bfloat16, BFloat16, float>;
  Element data[T.panels(Tokens) * Features * T.width()];

  constexpr const Element* view() const noexcept { return data; }
  constexpr void store(std::size_t slot, const float* features, std::size_t distance) noexcept {
    Element* const column = data + slot_offset<T, Features>(slot);
    for (std::size_t i = 0; i < Features; ++i) {
      if constexpr (P == CachePrecision::bfloat16) {
        column[i * T.width()] = to_bfloat16(features[i * distance]);
      } else {
        column[i * T.width()] = features[i * distance];
      }
    }
  }
  constexpr bool finite(std::size_t slot) const noexcept {
    const Element* const column = data + slot_offset<T, Features>(slot);
    bool all = true;
    for (std::size_t i = 0; i < Features; ++i) all = all && to_float(column[i * T.width()]) * 0.0f == 0.0f;
    return all;
  }
};
template <std::size_t Tokens, std::size_t Features, PanelLayout T>
struct alignas(64) CachePanels<Tokens, Features, T, CachePrecision::int8> {
  std::int8_t data[T.panels(Tokens) * Features * T.width()];
  float scale[T.panels(Tokens) * T.width()];

  constexpr Int8Tokens view() const noexcept { return {data, scale}; }
  constexpr void store(std::size_t slot, const float* features, std::size_t distance) noexcept {
    std::int8_t* const column = data + slot_offset<T, Features>(slot);
    const float largest = largest_magnitude<false>(features, Features, distance);
    if (!(largest <= (std::numeric_limits<float>::max)())) {
      scale[slot] = std::numeric_limits<float>::quiet_NaN();
      for (std::size_t i = 0; i < Features; ++i) column[i * T.width()] = 0;
      return;
    }
    scale[slot] = row_scale(largest);
    for (std::size_t i = 0; i < Features; ++i)
      column[i * T.width()] = static_cast<std::int8_t>(nearest_integer(features[i * distance] / scale[slot]));
  }
  constexpr bool finite(std::size_t slot) const noexcept { return scale[slot] * 0.0f == 0.0f; }
};

// Returns a view that begins `tokens` tokens later. Precondition: a panel begins there.
template <std::size_t Features, class Element>
LADON_INLINE constexpr const Element* skip(const Element* view, std::size_t tokens) noexcept {
  return view + tokens * Features;
}
template <std::size_t Features>
LADON_INLINE constexpr Int8Tokens skip(const Int8Tokens& view, std::size_t tokens) noexcept {
  return {view.data + tokens * Features, view.scale + tokens};
}
template <class Element>
LADON_INLINE constexpr const Element* elements(const Element* view) noexcept {
  return view;
}
LADON_INLINE constexpr const std::int8_t* elements(const Int8Tokens& view) noexcept { return view.data; }

// Multiplies lane i of `x` by the scale of token `token` + i, if the view has scales.
template <class Pack, class Element>
LADON_INLINE constexpr Pack times_scale(const Pack& x, const Element*, std::size_t) noexcept {
  return x;
}
template <class Pack>
LADON_INLINE constexpr Pack times_scale(const Pack& x, const Int8Tokens& view, std::size_t token) noexcept {
  return x * Pack::load(view.scale + token);
}

// Converts the tokens of `range` to floats [panels][Features][Width]. `range` begins at a panel, and the last panel is
// converted as a whole.
template <class Pack, std::size_t Width, std::size_t Features, class View>
LADON_NOINLINE constexpr void widen(const View& view, Range range, float* to) noexcept {
  for (std::size_t base = range.begin; base < range.end; base += Width) {
    for (std::size_t i = 0; i < Features * Width; i += Pack::lanes, to += Pack::lanes) {
      const Pack features = vec::load_as_float<Pack>(elements(view) + base * Features + i);
      times_scale(features, view, base + i % Width).store(to);
    }
  }
}

}  // namespace LADON_NAMESPACE::detail
