#pragma once

#include <iosfwd>
#include <ladon/model/sampling.hpp>
#include <span>

#include "checkpoint.hpp"
#include "model.hpp"
#include "tokenizer.hpp"

namespace stories {

using Sampler = ladon::Sampler<vocabulary_size>;

// The speed of writing a text. `positions` counts all tokens of the text. `seconds` is the time of all positions but
// the first, so the speed is (positions - 1) / seconds.
struct Timing {
  std::size_t positions = 0;  // all positions, prompt included
  double seconds = 0;

  [[nodiscard]] double tokens_per_second() const { return static_cast<double>(positions - 1) / seconds; }
};

// Writes the prompt (a result of Tokenizer::encode) and the model's continuation, piece by piece, and a line end. Ends
// after `steps` tokens (at least one), or earlier if the model ends its text. Throws Error if the prompt has more than
// max_positions tokens.
Timing generate(Model& model, const Tokenizer& tokenizer, Sampler& sampler, std::span<const TokenId> prompt,
                std::size_t steps, std::ostream& out);

}  // namespace stories
