// SPDX-License-Identifier: Apache-2.0
// The product of int8 weights and quantised panels on Cortex-M0+ (detail/simd/int8_thumb1.hpp). `w`, `in`, `panels` and
// `epilogue` are the arguments of matmul_int8 (detail/linear/matmul_int8.hpp). A tile of three rows or one row converts
// its weights to 32 bits, on the stack, once for all panels. detail/memory/panels.hpp defines packs and tiles.
#pragma once

#include <cstddef>
#include <cstdint>

#include <ladon/detail/linear/epilogue.hpp>
#include <ladon/detail/memory/int8_panels.hpp>
#include <ladon/detail/memory/weight_rows.hpp>
#include <ladon/detail/simd/int8_thumb1.hpp>
#include <ladon/detail/simd/soft_float.hpp>

#if LADON_THUMB1

namespace ladon::inline LADON_ABI::detail::thumb1 {

namespace instructions = simd::thumb1;
namespace soft = simd::soft;

// How many words of converted weights a tile holds at a time. The words take at most 2 KB of the stack.
inline constexpr std::size_t most_words = 512;

// By how many bits the sum of Inner products of a feature q and a weight can be shifted to the left. A product is at
// most 255 * 127.
template <std::size_t Inner>
inline constexpr std::uint32_t sum_shift = [] {
  std::uint32_t shift = 0;
  for (std::uint64_t largest = std::uint64_t{Inner} * 255 * 127; largest << (shift + 1) < (1u << 31); ++shift) {}
  return shift;
}();

// Whether the epilogue only stores the results into panels of four tokens.
template <class Epilogue>
inline constexpr bool only_stores = false;
template <>
inline constexpr bool only_stores<Epilogue<4, Unchanged, Combine::replace>> = true;

// Converts the integer sums of Rows rows to results, and passes the results to the epilogue.
template <std::size_t Width, std::size_t Packs, std::size_t Rows, std::size_t Inner, class Epilogue>
class Finish {
  using Pack = simd::ArrayPack<1>;

 public:
  template <class Weights>
  LADON_INLINE Finish(const Weights& w, std::size_t first_row, const Epilogue& epilogue) noexcept
      : split_(epilogue), first_row_(first_row) {
    const auto bias = w.bias.from(first_row);
#pragma GCC unroll 1
    for (std::size_t r = 0; r < Rows; ++r) {
      const float scale = w.scale[first_row + r];
      scale_[r] = split_.factor == 1.0f ? scale : scale * split_.factor;
      bias_[r] = split_.factor == 1.0f ? bias[r] : bias[r] * split_.factor;
      affine_[r] = soft::Affine(scale_[r], bias_[r], sum_shift<Inner>);
      usable_ = usable_ && soft::Affine::takes(scale_[r], bias_[r]);
    }
  }
  LADON_INLINE void operator()(std::size_t panel, const float* token_scale,
                               const std::int32_t (&sums)[Width][Rows]) const noexcept {
    if constexpr (only_stores<decltype(split_.epilogue)> && !LADON_DETERMINISTIC) {
      float* const out = split_.epilogue.out + panel * split_.epilogue.panel_stride + 4 * first_row_;
      if (!multiply_add(token_scale, sums, out)) compute(token_scale, sums, out);
    } else {
      float results[4 * Rows];
      if (!multiply_add(token_scale, sums, results)) compute(token_scale, sums, results);
      for (std::size_t r = 0; r < Rows; ++r) {
        for (std::size_t t = 0; t < Packs; ++t) split_.epilogue(panel, first_row_ + r, t, Pack{results[4 * r + t]});
      }
    }
  }

 private:
  // Writes results[4 * row + token]. Returns false if the results need the arithmetic of floats (`compute`).
  LADON_INLINE bool multiply_add(const float* token_scale, const std::int32_t (&sums)[Width][Rows],
                                 float* results) const noexcept {
    return !LADON_DETERMINISTIC && usable_ &&
           soft::multiply_add(sums[0], token_scale, affine_, results, affine_ + Rows, token_scale + Packs) == 0;
  }
  LADON_NOINLINE void compute(const float* token_scale, const std::int32_t (&sums)[Width][Rows],
                              float* results) const noexcept {
#pragma GCC unroll 1
    for (std::size_t r = 0; r < Rows; ++r) {
#pragma GCC unroll 1
      for (std::size_t t = 0; t < Packs; ++t) {
        const Pack scale = Pack::broadcast(token_scale[t]) * Pack::broadcast(scale_[r]);
        const Pack integer = Pack::broadcast(static_cast<float>(sums[t][r]));
        results[4 * r + t] = fma(integer, scale, Pack::broadcast(bias_[r])).lane[0];
      }
    }
  }

  SplitEpilogue<Epilogue> split_;
  std::size_t first_row_;
  float scale_[Rows], bias_[Rows];
  soft::Affine affine_[Rows];
  bool usable_ = true;
};

// Converts `count` weights of a tile from `first` on to words. Three rows are packed into two words for each feature
// (detail/simd/integer_products.hpp).
template <std::size_t Rows, std::size_t RowStride>
LADON_INLINE void convert(const std::int8_t* first, std::size_t count, std::int32_t* words) noexcept {
  if constexpr (Rows == 1) {
    for (std::size_t i = 0; i < count; ++i) words[i] = first[i];
  } else {
    for (std::size_t begin = 0; begin < count; begin += instructions::packed_block) {
      const std::size_t left = count - begin,
                        block = left < instructions::packed_block ? left : instructions::packed_block;
      for (std::size_t i = 0; i < block; ++i, ++first, ++words) {
        const std::int32_t row2 = first[2 * RowStride];
        words[0] = instructions::packed_a(first[0], row2);
        words[block] = instructions::packed_b(first[RowStride], row2);
      }
      words += block;
    }
  }
}

// Computes Rows rows (1 or 3) for all panels. A panel has room for Width tokens, 4 or 1. The epilogue gets the results
// of the first Packs tokens. Three rows need a width of 4.
template <std::size_t Width, std::size_t Packs, std::size_t Rows, std::size_t Inner, std::size_t RowStride,
          class Biases, class Epilogue>
LADON_INLINE void tile(const Int8Rows<RowStride, Biases>& w, std::size_t first_row, Int8PanelsView<std::int32_t> in,
                       std::size_t panels, Epilogue epilogue) noexcept {
  constexpr std::size_t words_of_feature = Rows == 1 ? 1 : 2, most = most_words / words_of_feature;
  constexpr std::size_t block = Inner < most ? Inner : most;
  std::int32_t words[words_of_feature * block];
  const std::int8_t* const rows = w.weight.rows_from(first_row).data;
  const auto add = [&](const std::int32_t* x, std::size_t count, std::int32_t(&sums)[Width][Rows]) LADON_INLINE_LAMBDA {
    if constexpr (Rows == 3) return instructions::add_3_packed_rows(words, x, count, sums);
    if constexpr (Width == 4) return instructions::add_4_tokens(words, x, count, sums[0]);
    for (std::size_t i = 0; i < count; ++i) {
      for (std::size_t t = 0; t < Packs; ++t) {
        sums[t][0] = simd::wrapping_sum(sums[t][0], x[i * Width + t] * words[i]);
      }
    }
  };
  const Finish<Width, Packs, Rows, Inner, Epilogue> finish(w, first_row, epilogue);
  if constexpr (block == Inner) convert<Rows, RowStride>(rows, Inner, words);
  for (std::size_t p = 0; p < panels; ++p) {
    const std::int32_t* const x = in.data + p * in.stride;
    std::int32_t sums[Width][Rows];
    // `zero` hides the constant, because g++ would call memset.
    std::int32_t zero = 0;
    asm("" : "+l"(zero));
    for (std::size_t i = 0; i < Width * Rows; ++i) sums[i / Rows][i % Rows] = zero;
    if constexpr (block == Inner) {
      add(x, Inner, sums);
    } else {
      for (std::size_t i = 0; i < Inner; i += block) {
        const std::size_t count = Inner - i < block ? Inner - i : block;
        convert<Rows, RowStride>(rows + i, count, words);
        add(x + i * Width, count, sums);
      }
    }
    finish(p, in.template scale<Width>(p), sums);
  }
}

// Computes the product. Panels of four tokens take three rows at a time.
template <std::size_t Width, std::size_t Packs, std::size_t Rows, std::size_t Inner, class Weights, class Epilogue>
LADON_INLINE void product(const Weights& w, Int8PanelsView<std::int32_t> in, std::size_t panels,
                          Epilogue epilogue) noexcept {
  std::size_t row = 0;
  if constexpr (Width == 4) {
    for (; row + 3 <= Rows; row += 3) tile<Width, Packs, 3, Inner>(w, row, in, panels, epilogue);
  }
  if constexpr (Width != 4 || Rows % 3 != 0) {
    for (; row < Rows; ++row) tile<Width, Packs, 1, Inner>(w, row, in, panels, epilogue);
  }
}

}  // namespace ladon::inline LADON_ABI::detail::thumb1

#endif
