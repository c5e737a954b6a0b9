// SPDX-License-Identifier: Apache-2.0
// The product of int8 weights and quantised panels on Cortex-M0+ (detail/simd/int8_thumb1.hpp). `w`, `in`, `panels` and
// `epilogue` are the arguments of matmul_int8 (detail/linear/matmul_int8.hpp). A tile of one row converts its weights
// to 32 bits, on the stack, once for all panels. detail/memory/panels.hpp defines packs and tiles.
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

// How many weights of a row a tile converts at a time. The converted weights take at most 1 KB of the stack.
inline constexpr std::size_t most_converted_features = 256;

// Converts the integer `sums` of one row to results, and passes the results to the epilogue.
template <std::size_t Width, std::size_t Packs, class Epilogue>
class Finish {
  using Pack = simd::ArrayPack<1>;

 public:
  LADON_INLINE Finish(float scale, float bias, const Epilogue& epilogue) noexcept
      : split_(epilogue),
        scale_(split_.factor == 1.0f ? scale : scale * split_.factor),
        bias_(split_.factor == 1.0f ? bias : bias * split_.factor),
        affine_(scale_, bias_) {}
  LADON_INLINE void operator()(std::size_t panel, std::size_t row, const float* token_scale,
                               const std::int32_t* sums) const noexcept {
    float results[Packs];
    if (LADON_DETERMINISTIC || !affine_.usable ||
        soft::multiply_add(sums, token_scale, &affine_, results, results + Packs) != 0) {
      for (std::size_t t = 0; t < Packs; ++t) {
        const Pack scale = Pack::broadcast(token_scale[t]) * Pack::broadcast(scale_);
        results[t] = fma(Pack::broadcast(static_cast<float>(sums[t])), scale, Pack::broadcast(bias_)).lane[0];
      }
    }
    for (std::size_t t = 0; t < Packs; ++t) split_.epilogue(panel, row, t, Pack{results[t]});
  }

 private:
  SplitEpilogue<Epilogue> split_;
  float scale_, bias_;
  soft::Affine affine_;
};

// Computes one row for all panels. A panel has room for Width tokens, 4 or 1. The epilogue gets the results of the
// first Packs tokens.
template <std::size_t Width, std::size_t Packs, std::size_t Inner, std::size_t RowStride, class Biases, class Epilogue>
LADON_INLINE void tile(const Int8Rows<RowStride, Biases>& w, std::size_t row, Int8PanelsView<std::int32_t> in,
                       std::size_t panels, Epilogue epilogue) noexcept {
  constexpr std::size_t block = Inner < most_converted_features ? Inner : most_converted_features;
  std::int32_t weights[block];
  const std::int8_t* const weight = w.weight.rows_from(row).data;
  const auto convert = [&](std::size_t first) LADON_INLINE_LAMBDA {
    const std::size_t count = Inner - first < block ? Inner - first : block;
    for (std::size_t i = 0; i < count; ++i) weights[i] = weight[first + i];
    return count;
  };
  const auto add = [&](const std::int32_t* x, std::size_t count, std::int32_t* sums) LADON_INLINE_LAMBDA {
    if constexpr (Width == 4) return instructions::add_4_tokens(weights, x, count, sums);
    for (std::size_t i = 0; i < count; ++i) {
      for (std::size_t t = 0; t < Packs; ++t) sums[t] = simd::wrapping_sum(sums[t], x[i * Width + t] * weights[i]);
    }
  };
  const Finish<Width, Packs, Epilogue> finish(w.scale[row], w.bias.from(row)[0], epilogue);
  if constexpr (block == Inner) convert(0);
  for (std::size_t p = 0; p < panels; ++p) {
    const std::int32_t* const x = in.data + p * in.stride;
    std::int32_t sums[Width];
    for (std::int32_t& sum : sums) sum = 0;
    if constexpr (block == Inner) {
      add(x, Inner, sums);
    } else {
      for (std::size_t i = 0; i < Inner; i += block) {
        const std::size_t count = convert(i);
        add(x + i * Width, count, sums);
      }
    }
    finish(p, row, in.template scale<Width>(p), sums);
  }
}

}  // namespace ladon::inline LADON_ABI::detail::thumb1

#endif
