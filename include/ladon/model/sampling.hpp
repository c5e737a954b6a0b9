// SPDX-License-Identifier: Apache-2.0
// Chooses the next token of a text from the logits of a language model.
//     ladon::Sampler<32000> sampler({.temperature = 0.8f, .top_k = 40, .top_p = 0.95f, .seed = 1});
//     const std::int32_t token = sampler(logits);
#pragma once

#include <ladon/detail/config/quiet_begin.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <limits>
#include <numbers>

#include <ladon/detail/config/compiler.hpp>
#include <ladon/detail/layer/activation.hpp>
#include <ladon/detail/vec/choose.hpp>
#include <ladon/detail/vec/elementary.hpp>

namespace LADON_NAMESPACE {

// The steps are those of transformers' LogitsProcessors, in the same order:
//     temperature   divides the logits; 0, negative, NaN: always the likeliest token
//     top_k         keeps the k largest logits, the first of equal logits; 0: all
//     top_p         keeps the fewest of the likeliest tokens whose probabilities sum to top_p or more; at least one
struct Sampling {
  float temperature = 0;
  std::size_t top_k = 0;
  float top_p = 1;
  std::uint64_t seed = 0;
};

// Returned if no logit is a number above -inf.
inline constexpr std::int32_t no_token = -1;

// Returns the index of the largest of `Vocabulary` logits, the first of equal logits. Skips NaN and -inf.
template <std::size_t Vocabulary>
struct Likeliest {
  constexpr std::int32_t operator()(const float* logits) const noexcept {
    std::int32_t found = no_token;
    float largest = -std::numeric_limits<float>::infinity();
    for (std::size_t i = 0; i < Vocabulary; ++i) {
      if (logits[i] > largest) largest = logits[i], found = static_cast<std::int32_t>(i);
    }
    return found;
  }
};

// Makes the tokens of a text less likely: divides their positive logits by `penalty`, and multiplies their negative
// logits (CTRL, arXiv 1909.05858). Repeated ids count once. Ids outside the vocabulary are ignored. Takes O(count^2).
template <std::size_t Vocabulary>
constexpr void penalise_repetition(const std::int32_t* ids, std::size_t count, float penalty, float* logits) noexcept {
  for (std::size_t i = 0; i < count; ++i) {
    bool first = ids[i] >= 0 && static_cast<std::size_t>(ids[i]) < Vocabulary;
    for (std::size_t j = 0; first && j < i; ++j) first = ids[j] != ids[i];
    if (!first) continue;
    float& logit = logits[ids[i]];
    logit = logit > 0 ? detail::vec::divide_scalar(logit, penalty) : detail::vec::multiply_scalar(logit, penalty);
  }
}

// Chooses tokens at random. Equal logits and seeds give equal tokens on every target. Never chooses a logit of NaN or
// -inf. Always chooses +inf. top_p takes O(Vocabulary + n log Vocabulary) if it keeps n tokens, top_k at most
// O(Vocabulary log top_k).
template <std::size_t Vocabulary, class Vectors = detail::vec::NativeVectors>
class Sampler {
 public:
  // Chooses the likeliest token.
  constexpr Sampler() noexcept = default;
  constexpr explicit Sampler(const Sampling& sampling) noexcept { start(sampling); }

  constexpr void start(const Sampling& sampling) noexcept { sampling_ = sampling; }

  // Returns a token, or no_token. `logits` is [Vocabulary].
  constexpr std::int32_t operator()(const float* logits) noexcept {
    const std::int32_t likeliest = Likeliest<Vocabulary>{}(logits);
    const float divisor = sampling_.temperature * std::numbers::ln2_v<float>;
    if (likeliest == no_token || !(divisor > 0)) return likeliest;
    if (logits[likeliest] == std::numeric_limits<float>::infinity()) return likeliest;
    double sum = weigh(logits, logits[likeliest], divisor);
    if (sampling_.top_p < 1) sum = take_likeliest(logits, sum, static_cast<double>(sampling_.top_p));
    return draw(random() * sum);
  }

 private:
  // Replaces each logit x by 2^z with z = (x - largest) / divisor: each probability times the same factor. NaN and z <=
  // -126.5 give 0. in_order prevents fused multiply-adds, which depend on the target.
  static constexpr void to_weights(float* x, std::size_t count, float largest, float divisor) noexcept {
    detail::vec::with_packs<Vectors>([&]<class Simd>(Simd) {
      detail::transform_floats<Simd>(x, count, [&]<class Pack>(const Pack& logit) {
        const Pack magic = Pack::broadcast(detail::vec::rounding_magic), lowest = Pack::broadcast(-127);
        const Pack z = maximum((logit - Pack::broadcast(largest)) / Pack::broadcast(divisor), lowest);
        const Pack t = in_order(z + magic), f = z - in_order(t - magic);
        Pack power = Pack::broadcast(0);
        LADON_UNROLL
        for (std::size_t i = std::size(detail::vec::exp2_fraction); i > 0; --i)
          power = in_order((power + Pack::broadcast(detail::vec::exp2_fraction[i - 1])) * f);
        return (power + Pack::broadcast(1)) * low_bits_to_exponent(t);
      });
    });
  }

  // Whether `a` has the larger logit, or is the first of equal logits.
  struct Likelier {
    const float* logits;
    constexpr bool operator()(std::int32_t a, std::int32_t b) const noexcept {
      return logits[a] > logits[b] || (!(logits[a] < logits[b]) && a < b);
    }
  };

  // Computes the weights of all tokens, or of the top_k likeliest. Returns their sum.
  constexpr double weigh(const float* logits, float largest, float divisor) noexcept {
    if (sampling_.top_k > 0 && sampling_.top_k < Vocabulary) {
      take_largest(logits, sampling_.top_k);
      for (std::size_t i = 0; i < count_; ++i) {
        weights_[tokens_[i]] = logits[tokens_[i]];
        to_weights(&weights_[tokens_[i]], 1, largest, divisor);
      }
    } else {
      count_ = Vocabulary;
      for (std::size_t i = 0; i < Vocabulary; ++i) tokens_[i] = static_cast<std::int32_t>(i);
      for (std::size_t i = 0; i < Vocabulary; ++i) weights_[i] = logits[i];
      to_weights(weights_, Vocabulary, largest, divisor);
    }
    double sum = 0;
    for (std::size_t i = 0; i < count_; ++i) sum += weight_of(i);
    return sum;
  }

  // Stores the tokens of the `limit` largest logits, in descending order. As soon as the loop has stored `limit`
  // tokens, tokens_[0] has the smallest of their logits.
  constexpr void take_largest(const float* logits, std::size_t limit) noexcept {
    const Likelier before{logits};
    std::size_t i = count_ = 0;
    for (; i < Vocabulary && count_ < limit; ++i) {
      if (logits[i] > -std::numeric_limits<float>::infinity()) tokens_[count_++] = static_cast<std::int32_t>(i);
    }
    std::make_heap(tokens_, tokens_ + count_, before);
    for (; i < Vocabulary; ++i) {
      if (!(logits[i] > logits[tokens_[0]])) continue;
      std::pop_heap(tokens_, tokens_ + limit, before);
      tokens_[limit - 1] = static_cast<std::int32_t>(i);
      std::push_heap(tokens_, tokens_ + limit, before);
    }
    std::sort_heap(tokens_, tokens_ + count_, before);
  }

  // First removes rare tokens, whose weights sum to less than (1 - top_p) * `sum`. Then keeps tokens from the likeliest
  // on, until their weights sum to top_p * `sum`. Returns the sum of the kept weights.
  constexpr double take_likeliest(const float* logits, double sum, double top_p) noexcept {
    const double share = (1 - top_p) * sum / Vocabulary, rare = share < 1 ? share : 1;  // the largest weight is 1
    const auto weight = [&](std::int32_t token) { return static_cast<double>(weights_[token]); };
    const auto end = std::remove_if(tokens_, tokens_ + count_, [&](std::int32_t t) { return !(weight(t) >= rare); });
    const auto rarer = [likelier = Likelier{logits}](std::int32_t a, std::int32_t b) { return likelier(b, a); };
    std::make_heap(tokens_, end, rarer);
    double kept = 0;
    auto rest = end;
    do {
      std::pop_heap(tokens_, rest, rarer);
      kept += weight(*--rest);
    } while (rest != tokens_ && kept < top_p * sum);
    count_ = static_cast<std::size_t>(end - rest);
    std::reverse(tokens_, end);
    return kept;
  }

  constexpr std::int32_t draw(double place) const noexcept {
    std::size_t i = 0;
    for (double sum = weight_of(0); i + 1 < count_ && !(place < sum);) sum += weight_of(++i);
    return tokens_[i];
  }

  constexpr double weight_of(std::size_t i) const noexcept { return static_cast<double>(weights_[tokens_[i]]); }

  // xorshift64* (Vigna, arXiv 1402.6246). Returns the upper 53 bits as a number in [0, 1).
  constexpr double random() noexcept {
    std::uint64_t& state = sampling_.seed;
    if (state == 0) state = 0x9e3779b97f4a7c15u;  // 2^64 / golden ratio: the state 0 would stay 0
    state ^= state >> 12;
    state ^= state << 25;
    state ^= state >> 27;
    return static_cast<double>((state * 0x2545f4914f6cdd1du) >> 11) * 0x1p-53;
  }

  Sampling sampling_{0, 0, 0, 0};  // `seed` is the generator's state; static objects of zeros take no flash
  std::size_t count_ = 0;
  std::int32_t tokens_[Vocabulary]{};  // the first count_ tokens may be chosen
  float weights_[Vocabulary]{};        // of the first count_ tokens
};

}  // namespace LADON_NAMESPACE
#include <ladon/detail/config/quiet_end.hpp>
