// SPDX-License-Identifier: Apache-2.0
// Int8 products on Cortex-M0+. A panel [features][width] holds quantised features q (detail/panel/int8_panels.hpp) in
// 32 bits. With 16 bits, each multiply-add would need another instruction. A tile has three rows or one row, and
// converts its weights to 32 bits, on the stack. One conversion serves all panels, unless a row is too long. To save
// code, all products of a program share `multiply`.
#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>

#include <ladon/detail/cortex_m/m0_arithmetic.hpp>
#include <ladon/detail/cortex_m/one_lane.hpp>
#include <ladon/detail/panel/rows.hpp>
#include <ladon/detail/product/epilogue.hpp>
#include <ladon/detail/vec/array.hpp>
#include <ladon/detail/vec/token_scale.hpp>

#if LADON_THUMB1

namespace LADON_NAMESPACE::detail::cortex_m::m0 {

// For the few features that `quantised` cannot compute.
LADON_COLD inline std::int32_t quantised_with_floats(float x, float reciprocal, std::int32_t most) noexcept {
  return vec::quantised_feature(x, reciprocal, most);
}

// |q| in units of 1/256 is the product of the upper 16 bits of both mantissas, shifted right by `shift` - (the stored
// exponent of the feature). `reciprocal`: the upper 16 bits of the mantissa of 1 / scale. `shift`: 284 - 8 - (the
// stored exponent of 1 / scale). 284 is twice the bias 127, plus 30 bits of the fraction of the product.
struct Quantisation {
  std::uint32_t reciprocal;
  std::int32_t shift;
};

// The exact product lies between the product of the upper 16 bits of both mantissas and (1 + 2^-14) times this product.
// If these bounds round to different integers (less than 1% of the features), the feature is quantised with floats.
LADON_INLINE std::int32_t quantised(std::uint32_t bits, const Quantisation& how, float reciprocal,
                                    std::int32_t most) noexcept {
  const std::int32_t exponent = exponent_of(bits);
  const std::uint32_t shift = static_cast<std::uint32_t>(how.shift - exponent);
  if (shift > 31) {
    if (exponent != 0 || bits << 1 == 0) return 0;
    return quantised_with_floats(ladon::bit_cast<float>(bits), reciprocal, most);
  }
  // |q| before rounding, in units of 1/256
  const std::uint32_t magnitude = ((mantissa_of(bits) >> 16) * how.reciprocal) >> shift;
  const std::uint32_t integer = (magnitude + 127) >> 8;
  if ((magnitude + (magnitude >> 14) + 130) >> 8 != integer) {
    return quantised_with_floats(ladon::bit_cast<float>(bits), reciprocal, most);
  }
  const auto q = static_cast<std::int32_t>(integer);
  if ((bits >> 31) != 0) return -q;
  return q < most ? q : most;
}

// How many converted weights a tile has at most: 2 KB of the stack.
inline constexpr std::size_t most_words = 512;

// How far a sum of Inner terms of at most 255 * 127 can be shifted left within 31 bits.
template <std::size_t Inner>
inline constexpr std::uint32_t sum_shift = [] {
  std::uint32_t shift = 0;
  for (std::uint64_t largest = std::uint64_t{Inner} * 255 * 127; largest << (shift + 1) < (1u << 31); ++shift) {}
  return shift;
}();

// A product for panels of four tokens.
struct Product {
  // As in IntegerRows. `bias` may be null.
  const std::int8_t* weight;
  std::size_t row_stride;
  const float *scale, *bias;
  float factor;             // scales and biases are multiplied by `factor`
  std::uint32_t sum_shift;  // m0::sum_shift
  std::size_t rows, inner;
  std::size_t tokens;  // how many tokens of a panel are computed
  // The panels, as in Int8PanelsView.
  const std::int32_t* in;
  const float* token_scale;
  std::size_t in_stride, panels;
  // Receives a tile's results [rows][4]: a panel if `finish` is null, otherwise a buffer that `finish` passes to the
  // epilogue.
  float* out;
  std::size_t panel_stride;
  void (*finish)(const void* epilogue, const float* results, std::size_t panel, std::size_t row, std::size_t rows);
  const void* epilogue;
  // Memory for converted weights of at most `block` features.
  std::int32_t* words;
  std::size_t block;
};

// Scales and biases of at most three rows, times Product::factor.
struct TileRows {
  std::size_t count;
  float scale[3], bias[3];
  Affine affine[3];
  bool usable;  // whether multiply_add takes the rows

  LADON_NOINLINE TileRows(const Product& product, std::size_t first, std::size_t rows) noexcept : count(rows) {
    usable = !LADON_DETERMINISTIC;
    LADON_ROLLED_FOR(r, rows) {
      scale[r] = product.scale[first + r];
      bias[r] = product.bias != nullptr ? product.bias[first + r] : 0;
      if (product.factor != 1.0f) {
        scale[r] *= product.factor;
        bias[r] *= product.factor;
      }
      affine[r] = Affine(scale[r], bias[r], product.sum_shift);
      usable = usable && Affine::takes(scale[r], bias[r]);
    }
  }
  // Writes results[4 * row + token].
  LADON_INLINE void finish(const std::int32_t* sums, const float* token_scale, std::size_t tokens,
                           float* results) const noexcept {
    if (!usable || multiply_add(sums, token_scale, affine, results, affine + count, token_scale + tokens) != 0) {
      finish_with_floats(sums, token_scale, tokens, results);
    }
  }
  // For numbers that multiply_add cannot compute, and for deterministic builds.
  LADON_COLD void finish_with_floats(const std::int32_t* sums, const float* token_scale, std::size_t tokens,
                                     float* results) const noexcept {
    using Pack = vec::ArrayPack<1>;
    LADON_ROLLED_FOR(t, tokens) {
      LADON_ROLLED_FOR(r, count) {
        const Pack both = Pack::broadcast(token_scale[t]) * Pack::broadcast(scale[r]);
        const Pack sum = Pack::broadcast(static_cast<float>(*sums++));
        results[4 * r + t] = fma(sum, both, Pack::broadcast(bias[r])).lane[0];
      }
    }
  }
};

// Converts weights to 32-bit words: three rows to two words for each feature (m0_arithmetic.hpp), one row to one word.
LADON_NOINLINE inline void convert(const std::int8_t* weight, std::size_t row_stride, std::size_t rows,
                                   std::size_t count, std::int32_t* words) noexcept {
  if (rows == 1) {
    LADON_ROLLED_FOR(i, count) words[i] = weight[i];
    return;
  }
  while (count > 0) {
    const std::size_t block = count < packed_block ? count : packed_block;
#pragma GCC unroll 2
    for (std::size_t i = 0; i < block; ++i, ++weight, ++words) {
      const std::int32_t row2 = weight[2 * row_stride];
      words[0] = packed_a(weight[0], row2);
      words[block] = packed_b(weight[row_stride], row2);
    }
    words += block;
    count -= block;
  }
}

LADON_NOINLINE inline void multiply(const Product& product) noexcept {
  const std::size_t inner = product.inner, block = product.block;
  std::size_t rows;
  for (std::size_t row = 0; row < product.rows; row += rows) {
    rows = product.rows - row >= 3 ? 3 : 1;
    const TileRows tile(product, row, rows);
    const std::int8_t* const weight = product.weight + row * product.row_stride;
    if (block == inner) convert(weight, product.row_stride, rows, inner, product.words);
    const std::int32_t* panel = product.in;
    float* out = product.out + (product.finish == nullptr ? 4 * row : 0);
    for (std::size_t p = 0; p < product.panels; ++p) {
      // Hides `zero` and `rows` from g++, which would call memset, and compile the loop once for each value of `rows`.
      std::int32_t sums[12], zero = 0;
      asm("" : "+l"(zero), "+l"(rows));
      for (std::int32_t& sum : sums) sum = zero;
      for (std::size_t i = 0; i < inner; i += block) {
        const std::size_t count = inner - i < block ? inner - i : block;
        if (block < inner) convert(weight + i, product.row_stride, rows, count, product.words);
        if (rows == 3) {
          add_3_packed_rows(product.words, panel + 4 * i, count, reinterpret_cast<std::int32_t(*)[3]>(sums));
        } else {
          add_4_tokens(product.words, panel + 4 * i, count, sums);
        }
      }
      tile.finish(sums, product.token_scale + 4 * p, product.tokens, out);
      if (product.finish != nullptr) product.finish(product.epilogue, out, p, row, rows);
      panel += product.in_stride;
      out += product.panel_stride;
    }
  }
}

template <std::size_t Packs, class Epilogue>
LADON_NOINLINE void finish(const void* epilogue, const float* results, std::size_t panel, std::size_t row,
                           std::size_t rows) noexcept {
  const Epilogue& to = *static_cast<const Epilogue*>(epilogue);
  LADON_ROLLED_FOR(r, rows) {
    LADON_ROLLED_FOR(t, Packs) to(panel, row + r, t, vec::ArrayPack<1>{results[4 * r + t]});
  }
}

struct Engine {
  static constexpr bool prepares_weights = true, has_matrix_vector = false;

  template <std::size_t Features, std::size_t Width, std::size_t Packs, int FeatureBits>
  static LADON_NOINLINE void quantise(const float* panel, std::int32_t* to, float* scales, std::size_t) noexcept {
    for (std::size_t t = 0; t < Packs; ++t) {
      const auto token = vec::scale_of_token<Features, FeatureBits>(panel + t, Width);
      const auto most = static_cast<std::int32_t>(token.most.lane[0]);
      const float reciprocal = token.reciprocal.lane[0];
      scales[t] = token.scale.lane[0];
      // If the scale would be less than 2^-126, `reciprocal` is 0. `quantised` then returns 0 for every feature.
      const auto bits = ladon::bit_cast<std::uint32_t>(reciprocal);
      const Quantisation how{mantissa_of(bits) >> 16, 284 - 8 - exponent_of(bits)};
      for (std::size_t i = 0; i < Features; ++i) {
        to[i * Width + t] = quantised(ladon::bit_cast<std::uint32_t>(panel[i * Width + t]), how, reciprocal, most);
      }
    }
  }

  template <class P, class Weights, class In, class Epilogue>
  static LADON_INLINE void product(const Weights& w, In in, std::size_t panels, Epilogue epilogue) noexcept {
    if constexpr (P::width == 1) {
      // For a single token, one_lane::Engine stores features in the same order.
      one_lane::Engine::product<P>(w, in, panels, epilogue);
    } else {
      static_assert(P::width == 4);
      constexpr std::size_t most = most_words / 2, block = P::inner < most ? P::inner : most;
      std::int32_t words[2 * block];
      float results[12];
      const SplitEpilogue split(epilogue);
      using Split = decltype(split.epilogue);
      Product product{.weight = w.weight.data,
                      .row_stride = decltype(w.weight)::row_stride,
                      .scale = w.scale,
                      .bias = nullptr,
                      .factor = split.factor,
                      .sum_shift = sum_shift<P::inner>,
                      .rows = P::rows,
                      .inner = P::inner,
                      .tokens = P::packs,
                      .in = in.data,
                      .token_scale = in.template scale<4>(0),
                      .in_stride = in.stride,
                      .panels = panels,
                      .out = results,
                      .panel_stride = 0,
                      .finish = &finish<P::packs, std::remove_const_t<Split>>,
                      .epilogue = &split.epilogue,
                      .words = words,
                      .block = block};
      if constexpr (std::is_same_v<decltype(w.bias), BiasVector>) product.bias = w.bias.data;
      if constexpr (only_stores<std::remove_const_t<Split>>) {
        product.out = split.epilogue.out;
        product.panel_stride = split.epilogue.panel_stride;
        product.finish = nullptr;
      }
      multiply(product);
    }
  }
};

}  // namespace LADON_NAMESPACE::detail::cortex_m::m0

#endif
