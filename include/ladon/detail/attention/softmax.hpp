// Softmax, online (Milakov and Gimelshein, arXiv 1805.02867). The scores of a query run down the keys in the query's
// lane, key block after key block. When a key block has a larger maximum, the earlier sums are corrected to this
// maximum.
//
// A query that sees no key: its maximum stays -inf and counts as 0, every 2^-inf is 0, and a sum of 0 divides as 1.
#pragma once

#include <cstddef>
#include <limits>

#include <ladon/detail/simd/elementary.hpp>

namespace ladon::inline LADON_ABI::detail {

template <class Pack, std::size_t Packs>
struct RunningSoftmax {
  Pack maximum[Packs];
  Pack sum[Packs];
  Pack correction[Packs];  // what the sums of earlier key blocks are multiplied by

  constexpr RunningSoftmax() noexcept {
    for (std::size_t v = 0; v < Packs; ++v) {
      maximum[v] = Pack::broadcast(-std::numeric_limits<float>::infinity());
      sum[v] = Pack::broadcast(0.0f);
      correction[v] = Pack::broadcast(1.0f);
    }
  }
  // Starts with a sink: a score without a value. A sink of -inf is no sink.
  constexpr explicit RunningSoftmax(float sink) noexcept : RunningSoftmax() {
    for (std::size_t v = 0; v < Packs; ++v) {
      maximum[v] = Pack::broadcast(sink);
      sum[v] = Pack::broadcast(sink == -std::numeric_limits<float>::infinity() ? 0.0f : 1.0f);
    }
  }

  // Begins a key block whose scores have updated `maximum`. `before` is the maximum of the earlier key blocks. Only:
  // this is the only key block and there is no sink, so nothing is corrected. (LADON_UNROLL: g++ turns a loop that
  // copies a few floats into memcpy, 1.7% more instructions on RISC-V at (16,32,4).)
  template <bool Only>
  LADON_INLINE constexpr void begin(const Pack (&before)[Packs]) noexcept {
    const Pack masked = Pack::broadcast(-std::numeric_limits<float>::infinity());
    LADON_UNROLL
    for (std::size_t v = 0; v < Packs; ++v) {
      shift[v] = select(maximum[v] == masked, Pack::broadcast(0.0f), maximum[v]);
      if constexpr (Only) {
        sum[v] = Pack::broadcast(0.0f);
      } else {
        correction[v] = exp2_of_nonpositive(before[v] - shift[v]);
        sum[v] = sum[v] * correction[v];
      }
    }
  }

  // Replaces the scores [keys][Width] by 2^(s - maximum), Chains packs at the same time, and adds them to the sum. A
  // separate function; where one pack has all tokens, LADON_KERNEL decides (g++, AVX-512: inlined, (64,128,4) falls
  // from 91 to 88% of peak; as a separate function, (16,32,4) falls from 69 to 61%).
  template <std::size_t Width, std::size_t Chains>
  LADON_NOINLINE constexpr void exponentials(float* scores, std::size_t keys) noexcept {
    to_exponentials<Width, Chains>(scores, keys);
  }
  template <std::size_t Width, std::size_t Chains>
    requires(Packs == 1)
  LADON_KERNEL constexpr void exponentials(float* scores, std::size_t keys) noexcept {
    to_exponentials<Width, Chains>(scores, keys);
  }

  // The same for one key, between the steps of a tile. The shift is read again, because the tile needs the registers.
  template <std::size_t Width>
  LADON_INLINE constexpr void exponentials_of_key(float* scores, Pack (&total)[Packs]) const noexcept {
    exponentials_together<Width, 1>(scores, opaque(&shift[0]), total);
  }

  // The same for `keys` keys and the last pack only.
  template <std::size_t Width>
  LADON_INLINE constexpr void exponentials_of_last_pack(float* scores, std::size_t keys,
                                                        Pack (&total)[Packs]) const noexcept {
    constexpr std::size_t v = Packs - 1;
    for (std::size_t k = 0; k < keys; ++k) exponential(scores + k * Width + v * Pack::lanes, shift[v], total[v]);
  }

  // Returns 1 / sum, and 1 for a query that saw no key.
  constexpr Pack reciprocal_sum(std::size_t v) const noexcept {
    const Pack one = Pack::broadcast(1.0f);
    return one / select(sum[v] == Pack::broadcast(0.0f), one, sum[v]);
  }

  // Sets what the weighted sums are multiplied by after a key block: 1 / sum after the last block, otherwise 1.
  LADON_INLINE constexpr void multipliers(bool last, Pack (&after)[Packs]) const noexcept {
    for (std::size_t v = 0; v < Packs; ++v) after[v] = last ? reciprocal_sum(v) : Pack::broadcast(1.0f);
  }

 private:
  Pack shift[Packs];  // the maximum, and 0 for a query that saw no key

  template <std::size_t Width, std::size_t Chains>
  LADON_INLINE constexpr void to_exponentials(float* scores, std::size_t keys) noexcept {
    constexpr std::size_t keys_at_once = Chains > Packs ? Chains / Packs : 1;
    Pack largest[Packs], total[Packs];
    LADON_UNROLL
    for (std::size_t v = 0; v < Packs; ++v) {
      largest[v] = shift[v];
      total[v] = sum[v];
    }
    std::size_t done = 0;
    if constexpr (Chains > 1) {
      for (; done + keys_at_once <= keys; done += keys_at_once) {
        exponentials_together<Width, keys_at_once>(scores + done * Width, largest, total);
      }
    }
    for (std::size_t k = done; k < keys; ++k) {
      LADON_UNROLL
      for (std::size_t v = 0; v < Packs; ++v) {
        exponential(scores + k * Width + v * Pack::lanes, largest[v], total[v]);
      }
    }
    for (std::size_t v = 0; v < Packs; ++v) sum[v] = total[v];
  }

  // Computes the exponentials of one key and one pack.
  static LADON_INLINE constexpr void exponential(float* score, const Pack& largest, Pack& total) noexcept {
    const Pack p = exp2_of_nonpositive(Pack::load(score) - largest);
    total = total + p;
    p.store(score);
  }

  // Computes the exponentials of Keys keys, all packs side by side.
  template <std::size_t Width, std::size_t Keys>
  static LADON_INLINE constexpr void exponentials_together(float* scores, const Pack* largest,
                                                           Pack (&total)[Packs]) noexcept {
    Pack p[Keys * Packs];
    const auto at = [&](std::size_t i) { return scores + i / Packs * Width + i % Packs * Pack::lanes; };
    simd::for_each_index<Keys * Packs>([&](std::size_t i) { p[i] = Pack::load(at(i)) - largest[i % Packs]; });
    exp2_of_nonpositive(p);
    simd::for_each_index<Keys * Packs>([&](std::size_t i) {
      total[i % Packs] = total[i % Packs] + p[i];
      p[i].store(at(i));
    });
  }
};

}  // namespace ladon::inline LADON_ABI::detail
