#pragma once

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "checkpoint.hpp"

namespace stories {

// Chooses the next token as llama2.c does. At temperature 0, chooses the likeliest token. Otherwise, chooses a random
// token from softmax(logits / temperature). If `top_p` is between 0 and 1, chooses only among the likeliest tokens
// whose probabilities together exceed `top_p` ("The Curious Case of Neural Text Degeneration", arXiv 1904.09751). Equal
// seeds give equal choices. If the temperature is so small that the division of the largest logit by the temperature
// overflows, the temperature counts as 0.
class Sampler {
 public:
  // Precondition: temperature >= 0.
  Sampler(float temperature, float top_p, std::uint64_t seed) noexcept;

  // Needs at least two logits. Throws Error if a logit is NaN or infinite.
  [[nodiscard]] TokenId choose(std::span<const float> logits);

 private:
  struct Candidate {
    float probability;
    TokenId token;
  };

  void soften(std::span<const float> logits);
  void keep_likeliest();
  [[nodiscard]] TokenId draw();
  [[nodiscard]] float random() noexcept;

  float temperature_;
  float top_p_;
  std::uint64_t state_;
  std::vector<Candidate> candidates_;
};

}  // namespace stories
