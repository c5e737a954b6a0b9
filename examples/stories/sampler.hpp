#pragma once

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "checkpoint.hpp"

namespace stories {

// Chooses the next token, as llama2.c does: the likeliest at temperature 0; else one by chance from softmax(logits /
// temperature), and only among the likeliest that together exceed the probability `top_p` where that lies between 0
// and 1 ("The Curious Case of Neural Text Degeneration", arXiv 1904.09751). The same seed gives the same choices.
// A temperature so small that the largest logit / temperature overflows is treated as 0.
class Sampler {
 public:
  // temperature >= 0.
  Sampler(float temperature, float top_p, std::uint64_t seed) noexcept;

  // logits: at least two. Throws Error where one is NaN or infinite.
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
