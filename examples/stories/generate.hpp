#pragma once

#include <iosfwd>
#include <span>

#include "checkpoint.hpp"
#include "model.hpp"
#include "sampler.hpp"
#include "tokenizer.hpp"

namespace stories {

// The clock runs from after the first position to the end of the text.
struct Timing {
  std::size_t positions = 0;  // all of them, the prompt's included
  double seconds = 0;

  [[nodiscard]] double tokens_per_second() const { return static_cast<double>(positions - 1) / seconds; }
};

// Writes the prompt (what Tokenizer::encode gave) and what the model makes of it, piece by piece, and a line's end:
// `steps` positions (at least one), or fewer where the model ends its text. Throws Error where the prompt has more than
// max_positions tokens.
Timing generate(Model& model, const Tokenizer& tokenizer, Sampler& sampler, std::span<const TokenId> prompt,
                std::size_t steps, std::ostream& out);

}  // namespace stories
