#include "sampler.hpp"

#include <algorithm>
#include <cmath>

#include "error.hpp"

namespace stories {
namespace {

void check(std::span<const float> logits) {
  if (!std::ranges::all_of(logits, [](float logit) { return std::isfinite(logit); }))
    throw examples::Error("expected finite logits to choose a token from, found NaN or infinity");
}

}  // namespace

Sampler::Sampler(float temperature, float top_p, std::uint64_t seed) noexcept
    : temperature_(temperature),
      top_p_(top_p),
      state_(seed != 0 ? seed : 0x9E3779B97F4A7C15u) {}  // a state of 0 would never change; this is 2^64 / golden ratio

TokenId Sampler::choose(std::span<const float> logits) {
  check(logits);
  const auto likeliest = std::ranges::max_element(logits);
  // Chooses the likeliest token if the division of the largest logit by the temperature overflows, because softmax
  // would give every smaller logit the probability 0.
  if (temperature_ == 0 || !std::isfinite(*likeliest / temperature_))
    return static_cast<TokenId>(likeliest - logits.begin());
  soften(logits);
  if (top_p_ > 0 && top_p_ < 1) keep_likeliest();
  return draw();
}

// Computes candidates_ = softmax(logits / temperature).
void Sampler::soften(std::span<const float> logits) {
  candidates_.clear();
  for (std::size_t i = 0; i < logits.size(); ++i)
    candidates_.push_back({logits[i] / temperature_, static_cast<TokenId>(i)});
  const float largest = std::ranges::max(candidates_, {}, &Candidate::probability).probability;
  float sum = 0;
  for (auto& [value, token] : candidates_) sum += value = std::exp(value - largest);
  for (auto& [value, token] : candidates_) value /= sum;
}

// Sorts the candidates by descending probability. Keeps candidates from the first on, until their probabilities sum to
// more than top_p. Erases all other candidates.
void Sampler::keep_likeliest() {
  // To save time, erases rare candidates before the sort. A candidate is rare if its probability is below (1 - top_p) /
  // (number of candidates - 1). All rare candidates together have a probability below 1 - top_p, so the other
  // candidates sum to more than top_p. With a very small top_p, all candidates may be rare by this rule. The limit
  // `rare` is therefore at most the largest probability, so that the likeliest candidate stays.
  const float largest = std::ranges::max(candidates_, {}, &Candidate::probability).probability;
  const float rare = std::min(largest, (1 - top_p_) / static_cast<float>(candidates_.size() - 1));
  std::erase_if(candidates_, [&](const Candidate& one) { return one.probability < rare; });
  std::ranges::sort(candidates_, [](const Candidate& a, const Candidate& b) {
    return a.probability != b.probability ? a.probability > b.probability : a.token < b.token;
  });
  float sum = 0;
  const auto last =
      std::ranges::find_if(candidates_, [&](const Candidate& one) { return (sum += one.probability) > top_p_; });
  if (last != candidates_.end()) candidates_.erase(last + 1, candidates_.end());
}

TokenId Sampler::draw() {
  float total = 1;
  if (top_p_ > 0 && top_p_ < 1) {
    total = 0;
    for (const Candidate& one : candidates_) total += one.probability;
  }
  const float chosen = random() * total;
  float sum = 0;
  for (const Candidate& one : candidates_) {
    sum += one.probability;
    if (chosen < sum) return one.token;
  }
  return candidates_.back().token;  // only if rounding made the sum smaller than the random number
}

// xorshift64* (Vigna, arXiv 1402.6246). The upper 24 bits make a number in [0, 1).
float Sampler::random() noexcept {
  state_ ^= state_ >> 12;
  state_ ^= state_ << 25;
  state_ ^= state_ >> 27;
  constexpr float two_to_minus_24 = 1.0f / 16777216.0f;
  return static_cast<float>((state_ * 0x2545F4914F6CDD1Du) >> 40) * two_to_minus_24;
}

}  // namespace stories
