// Softmax, online (Milakov and Gimelshein, arXiv 1805.02867): each query's scores run down the keys in its own lane,
// block after block, and what was summed so far is corrected when a larger maximum comes.
//
// Fully masked queries: their maximum stays -inf and counts as 0, every 2^-inf is 0, and a sum of 0 divides as 1.
#pragma once

#include <cstddef>
#include <limits>

#include <ladon/kernel/elementary.hpp>

namespace ladon::inline LADON_ABI::kernel {

template <class Pack, std::size_t Packs>
struct RunningSoftmax {
  Pack maximum[Packs];
  Pack sum[Packs];
  Pack correction[Packs];  // what earlier blocks are to be multiplied by

  constexpr RunningSoftmax() noexcept {
    for (std::size_t v = 0; v < Packs; ++v) {
      maximum[v] = Pack::broadcast(-std::numeric_limits<float>::infinity());
      sum[v] = Pack::broadcast(0.0f);
      correction[v] = Pack::broadcast(1.0f);
    }
  }
  // With a sink: a first score that has no value. One of -inf is none.
  constexpr explicit RunningSoftmax(float sink) noexcept : RunningSoftmax() {
    for (std::size_t v = 0; v < Packs; ++v) {
      maximum[v] = Pack::broadcast(sink);
      sum[v] = Pack::broadcast(sink == -std::numeric_limits<float>::infinity() ? 0.0f : 1.0f);
    }
  }

  // scores [keys][Width] become 2^(s - maximum) in place; `before` is the maximum of the blocks before this one. A
  // function of its own but where one pack holds all tokens (g++, AVX-512: inlined it took (64,128,4) from 91 to 88% of
  // peak; as a function (16,32,4) from 69 to 61%).
  template <std::size_t Width>
  LADON_NOINLINE constexpr void exponentials(float* scores, std::size_t keys, const Pack (&before)[Packs]) noexcept {
    to_exponentials<Width>(scores, keys, before);
  }
  template <std::size_t Width>
    requires(Packs == 1)
  LADON_KERNEL constexpr void exponentials(float* scores, std::size_t keys, const Pack (&before)[Packs]) noexcept {
    to_exponentials<Width>(scores, keys, before);
  }

  // 1 / sum, and 1 where nothing was seen.
  constexpr Pack reciprocal_sum(std::size_t v) const noexcept {
    const Pack one = Pack::broadcast(1.0f);
    return one / select(sum[v] == Pack::broadcast(0.0f), one, sum[v]);
  }

 private:
  template <std::size_t Width>
  LADON_INLINE constexpr void to_exponentials(float* scores, std::size_t keys, const Pack (&before)[Packs]) noexcept {
    const Pack masked = Pack::broadcast(-std::numeric_limits<float>::infinity());
    Pack shift[Packs], total[Packs];
    for (std::size_t v = 0; v < Packs; ++v) {
      shift[v] = select(maximum[v] == masked, Pack::broadcast(0.0f), maximum[v]);
      correction[v] = exp2_of_nonpositive(before[v] - shift[v]);
      total[v] = sum[v] * correction[v];
    }
    for (std::size_t k = 0; k < keys; ++k) {
      LADON_UNROLL
      for (std::size_t v = 0; v < Packs; ++v) {
        float* const at = scores + k * Width + v * Pack::lanes;
        const Pack p = exp2_of_nonpositive(Pack::load(at) - shift[v]);
        total[v] = total[v] + p;
        p.store(at);
      }
    }
    for (std::size_t v = 0; v < Packs; ++v) sum[v] = total[v];
  }
};

}  // namespace ladon::inline LADON_ABI::kernel
