// SPDX-License-Identifier: Apache-2.0
// The online softmax (Milakov and Gimelshein, arXiv 1805.02867) over scores [keys][queries] in key blocks. If a key
// block raises the maximum of a query, the query's sums over earlier key blocks are multiplied by a correction.
//
// If a query sees no key, its maximum stays -inf. The kernels then subtract 0, so that every weight is 0, and divide by
// 1 instead of the sum 0.
#pragma once

#include <cstddef>
#include <limits>
#include <type_traits>

#include <ladon/detail/cortex_m/m0_attention.hpp>
#include <ladon/detail/vec/dot.hpp>
#include <ladon/detail/vec/elementary.hpp>

namespace LADON_NAMESPACE::detail {

template <class Pack, std::size_t Packs>
struct RunningSoftmax {
  Pack maximum[Packs];
  Pack sum[Packs];
  Pack correction[Packs];  // factors that adapt the sums of earlier key blocks to the new maximum

  // `sink` is the attention sink of the head (score.hpp), or -inf, which has no effect.
  constexpr explicit RunningSoftmax(float sink) noexcept {
    for (std::size_t v = 0; v < Packs; ++v) {
      maximum[v] = Pack::broadcast(sink);
      sum[v] = Pack::broadcast(sink == -std::numeric_limits<float>::infinity() ? 0.0f : 1.0f);
      correction[v] = Pack::broadcast(1.0f);
    }
  }

  // Begins a key block. `maximum` includes the scores of this block, and `before` does not. Only: there is a single key
  // block and no sink, so nothing is corrected. Without unrolling, g++ calls memcpy (RISC-V, 16 tokens, 32 features, 4
  // heads: 1.7% more instructions).
  template <bool Only>
  LADON_INLINE constexpr void begin(const Pack (&before)[Packs]) noexcept {
    const Pack masked = Pack::broadcast(-std::numeric_limits<float>::infinity());
    LADON_UNROLLED_FOR(v, Packs) {
      shift_[v] = blend(maximum[v] == masked, Pack::broadcast(0.0f), maximum[v]);
      if constexpr (Only) {
        sum[v] = Pack::broadcast(0.0f);
      } else {
        correction[v] = exp2_of_nonpositive(before[v] - shift_[v]);
        sum[v] = sum[v] * correction[v];
      }
    }
  }

  // Replaces each score s of `scores` [keys][Width] by the weight 2^(s - maximum). Adds the sum of these weights to
  // `sum`. `Chains` packs are computed side by side, to hide latency.
  //
  // If the queries fill several packs, this is a separate function (64 tokens, 128 features, 4 heads: 91% of peak,
  // inlined 88%). With one pack, inlining is faster (16 tokens, 32 features, 4 heads: 69%, separate 61%; AVX-512, g++).
  template <std::size_t Width, std::size_t Chains, bool BlockFloats = false, bool Pairs = false>
  LADON_NOINLINE constexpr void exponentials(float* scores, std::size_t keys) noexcept {
    to_weights<Width, Chains, BlockFloats, Pairs>(scores, keys);
  }
  template <std::size_t Width, std::size_t Chains, bool BlockFloats = false, bool Pairs = false>
    requires(Packs == 1)
  LADON_KERNEL constexpr void exponentials(float* scores, std::size_t keys) noexcept {
    to_weights<Width, Chains, BlockFloats, Pairs>(scores, keys);
  }

  // Pairs: `exponentials` and the next two functions round weights to pairs of bfloat16 numbers (operands.hpp).
  // weights_of_step computes the weights of one key, or of a pair of keys, and adds them to `total`. A tile calls this
  // function between steps and needs all registers, so `shift_` is read from memory in each step.
  template <std::size_t Width, bool Pairs>
  LADON_INLINE constexpr void weights_of_step(const float* scores, float* weights,
                                              Pack (&total)[Packs]) const noexcept {
    const Pack* const shift = opaque(&shift_[0]);
    if constexpr (Pairs) {
      for (std::size_t v = 0; v < Packs; ++v) {
        weights_together<Width, 1, true, 1>(scores + v * Pack::lanes, weights + v * Pack::lanes, shift + v, total + v);
      }
    } else {
      weights_together<Width, 1, false>(scores, weights, shift, total);
    }
  }
  // Computes the weights of `count` steps from step `first` on, for the last pack of queries only.
  template <std::size_t Width, bool Pairs>
  LADON_INLINE constexpr void weights_of_last_pack(float* scores, std::size_t first, std::size_t count,
                                                   Pack (&total)[Packs]) const noexcept {
    constexpr std::size_t v = Packs - 1;
    float* const column = scores + v * Pack::lanes;
    for (std::size_t i = first; i < first + count; ++i) {
      weights_together<Width, 1, Pairs, 1>(column + (Pairs ? 2 : 1) * i * Width, column + i * Width, shift_ + v,
                                           total + v);
    }
  }

  // Returns 1 / sum for each query of pack `v`. A query without visible keys has the sum 0 and gets 1.
  constexpr Pack reciprocal_sum(std::size_t v) const noexcept {
    const Pack one = Pack::broadcast(1.0f);
    return one / blend(sum[v] == Pack::broadcast(0.0f), one, sum[v]);
  }

  // Sets `after` to the factors of the weighted sums: 1 / sum after the last key block, 1 after earlier blocks.
  LADON_INLINE constexpr void multipliers(bool last, Pack (&after)[Packs]) const noexcept {
    for (std::size_t v = 0; v < Packs; ++v) after[v] = last ? reciprocal_sum(v) : Pack::broadcast(1.0f);
  }

 private:
  Pack shift_[Packs];  // subtracted from each score: the maximum, or 0 for a query that has seen no key so far

  template <std::size_t Width, std::size_t Chains, bool BlockFloats, bool Pairs>
  LADON_INLINE constexpr void to_weights(float* scores, std::size_t keys) noexcept {
    if constexpr (BlockFloats) {
      if (!std::is_constant_evaluated()) {
        for (std::size_t v = 0; v < Packs; ++v) {
          sum[v] = sum[v] + Pack{block_floats::exponentials(scores + v, Width, keys, shift_[v].lane[0])};
        }
        return;
      }
    }
    constexpr std::size_t step = Pairs ? 2 : 1, at_once = Chains > step * Packs ? Chains / (step * Packs) : 1;
    const std::size_t steps = (keys + step - 1) / step;
    Pack largest[Packs], total[Packs];
    LADON_UNROLLED_FOR(v, Packs) {
      largest[v] = shift_[v];
      total[v] = Pack::broadcast(0.0f);
    }
    std::size_t i = 0;
    if constexpr (Chains > 1) {
      for (; i + at_once <= steps; i += at_once) {
        weights_together<Width, at_once, Pairs>(scores + step * i * Width, scores + i * Width, largest, total);
      }
    }
    for (; i < steps; ++i) {
      if constexpr (Pairs) {
        weights_together<Width, 1, true>(scores + step * i * Width, scores + i * Width, largest, total);
      } else {
        LADON_UNROLLED_FOR(v, Packs) exponential(scores + i * Width + v * Pack::lanes, largest[v], total[v]);
      }
    }
    for (std::size_t v = 0; v < Packs; ++v) sum[v] = sum[v] + total[v];
  }
  static LADON_INLINE constexpr void exponential(float* score, const Pack& largest, Pack& total) noexcept {
    const Pack p = exp2_of_nonpositive(Pack::load(score) - largest);
    total = total + p;
    p.store(score);
  }
  // Computes the weights of Count keys, or pairs of keys, in N packs of queries side by side, to hide latency.
  template <std::size_t Width, std::size_t Count, bool Pairs, std::size_t N = Packs>
  static LADON_INLINE constexpr void weights_together(const float* scores, float* weights, const Pack* largest,
                                                      Pack* total) noexcept {
    constexpr std::size_t step = Pairs ? 2 : 1;
    Pack p[step * Count * N];
    LADON_UNROLLED_FOR(i, step * Count * N) {
      p[i] = Pack::load(scores + i / N * Width + i % N * Pack::lanes) - largest[i % N];
    }
    exp2_of_nonpositive(p);
    LADON_UNROLLED_FOR(i, Count * N) {
      const std::size_t v = i % N, first = step * (i - v) + v;
      float* const to = weights + i / N * Width + v * Pack::lanes;
      if constexpr (Pairs) {
        const Pack pair = vec::BFloat16Pairs<Pack>::to_pairs(p[first], p[first + N]);
        vec::BFloat16Pairs<Pack>::add_products(total[v], pair, Pack::broadcast(vec::pair_of_ones));
        pair.store(to);
      } else {
        total[v] = total[v] + p[i];
        p[i].store(to);
      }
    }
  }
};

// For a single query. `shift` is the maximum of the scores, or 0 if the maximum is -inf.
template <class Score, class Pack>
struct SingleQuerySoftmax {
  float shift;
  Pack total;

  constexpr explicit SingleQuerySoftmax(const Pack& largest) noexcept : total(Pack::broadcast(0.0f)) {
    const float maximum = reduce_max(largest);
    shift = maximum == -std::numeric_limits<float>::infinity() ? 0.0f : maximum;
  }
  // Replaces each score s by the weight 2^(s - shift). Mark: hidden keys (score -inf) get the weight -1.
  template <bool Mark, std::size_t SumBlock>
  constexpr void exponentials(float* scores, std::size_t count) noexcept {
    const Pack masked = Pack::broadcast(-std::numeric_limits<float>::infinity());
    for (std::size_t i = 0; i < count;) {
      const std::size_t end = count - i < SumBlock ? count : i + SumBlock;
      Pack block_total = Pack::broadcast(0.0f);
      for (; i < end; i += Pack::lanes) {
        const Pack s = Pack::load(scores + i);
        const Pack p = exp2_of_nonpositive(s - Pack::broadcast(shift));
        block_total = block_total + p;
        if constexpr (Mark) {
          blend(s == masked, Pack::broadcast(-1.0f), p).store(scores + i);
        } else {
          p.store(scores + i);
        }
      }
      total = total + block_total;
    }
  }
  // Returns 1 / sum of the weights, including the weight of the sink, or 1 if the sum is 0.
  constexpr float reciprocal_sum(float sink) const noexcept {
    float sum = reduce_add(total);
    if constexpr (Score::sinks) sum += exp2_of_nonpositive(vec::ArrayPack<1>{sink - shift}).lane[0];
    return 1.0f / (sum == 0 ? 1.0f : sum);
  }
};

}  // namespace LADON_NAMESPACE::detail
