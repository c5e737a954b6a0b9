// SPDX-License-Identifier: Apache-2.0
// Attention with bfloat16 numbers, for bfloat16 and int8 weights on targets that multiply pairs of them
// (target::Defaults::attends_in_pairs). Queries, keys, values and weights are rounded to the nearest bfloat16. Scores,
// maxima, exponentials and all sums are float32. A pair takes the place of a float (detail/vec/dot.hpp):
//     queries   Q^T [(head width + 1) / 2][query width]             a pair has two features of one query
//     keys      K^T [panels][(head width + 1) / 2][key width]       a pair has two features of one key
//     values    V^T [panels][value width][key width / 2]            a pair has one feature of two neighbouring keys
//     weights   P^T [(keys of the block + 1) / 2][query width]      a pair has the weights of two neighbouring keys
//
// If the number of features or keys is odd, the second number of the last pair is 0.
//
// The sum of the softmax adds the rounded weights. With rounding errors e_k of the weights p_k, values v_k and output
// o, the error of the output is then (sum of e_k (v_k - o)) / (sum of p_k). It is 0 if all values are equal. With exact
// weights in the sum, the error (sum of e_k v_k) / (sum of p_k) would grow with the mean of the values.
#pragma once

#include <cstddef>
#include <type_traits>

#include <ladon/detail/vec/dot.hpp>

namespace LADON_NAMESPACE::detail {

// A view of the keys or the values of a head, in pairs.
struct PairPanels {
  const float* data;
};

// Whether `View` is a view of a bfloat16 or int8 cache, whose elements must be converted to floats.
template <class View>
inline constexpr bool is_widened = !std::is_same_v<View, const float*> && !std::is_same_v<View, PairPanels>;

LADON_INLINE constexpr std::size_t pairs_of(std::size_t count) noexcept { return (count + 1) / 2; }

// Rounds the features of panels [panels][Features][Width] to pairs [panels][pairs_of(Features)][Width], in place.
template <class Pack, std::size_t Packs, std::size_t Width, std::size_t Features>
LADON_KERNEL constexpr void round_features(float* data, std::size_t panels) noexcept {
  using Pairs = vec::BFloat16Pairs<Pack>;
  float* to = data;
  for (std::size_t p = 0; p < panels; ++p) {
    const float* const panel = data + p * Features * Width;
    for (std::size_t i = 0; i < Features; i += 2, to += Width) {
      LADON_UNROLL
      for (std::size_t v = 0; v < Packs; ++v) {
        const Pack first = Pack::load(panel + i * Width + v * Pack::lanes);
        const Pack second =
            i + 1 < Features ? Pack::load(panel + (i + 1) * Width + v * Pack::lanes) : Pack::broadcast(0.0f);
        Pairs::to_pairs(first, second).store(to + v * Pack::lanes);
      }
    }
  }
}

// Rounds the values of the first `keys` keys from [panels][Features][Width] floats to [panels][Features][Width / 2]
// pairs, in place.
template <class Pack, std::size_t Width, std::size_t Features>
LADON_KERNEL constexpr void round_values(float* data, std::size_t keys) noexcept {
  static_assert(Width % 2 == 0);
  const std::size_t rows = (keys + Width - 1) / Width * Features;
  for (std::size_t r = 0; r < rows; ++r) {
    const float* const from = data + r * Width;
    float* const to = data + r * (Width / 2);
    if constexpr (Pack::lanes == 1) {
      for (std::size_t i = 0; i < Width; i += 2) to[i / 2] = vec::to_pair(from[i], from[i + 1]);
    } else {
      LADON_UNROLL
      for (std::size_t i = 0; i < Width; i += Pack::lanes) {
        vec::BFloat16Pairs<Pack>::store_neighbours(Pack::load(from + i), to + i / 2);
      }
    }
  }
  if (keys % 2 == 0) return;
  float* const last = data + (keys / Width * Features * Width + keys % Width) / 2;
  for (std::size_t i = 0; i < Features; ++i) last[i * (Width / 2)] = vec::only_first(last[i * (Width / 2)]);
}

}  // namespace LADON_NAMESPACE::detail
