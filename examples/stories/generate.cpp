#include "generate.hpp"

#include <algorithm>
#include <chrono>
#include <ostream>
#include <string>

#include "error.hpp"
#include "printable.hpp"

namespace stories {
namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start) { return std::chrono::duration<double>(Clock::now() - start).count(); }

void check(std::span<const TokenId> prompt) {
  if (prompt.size() > max_positions)
    throw examples::Error("the prompt is too long: expected at most " + std::to_string(max_positions) +
                          " tokens, found " + std::to_string(prompt.size()));
}

}  // namespace

Timing generate(Model& model, const Tokenizer& tokenizer, Sampler& sampler, std::span<const TokenId> prompt,
                std::size_t steps, std::ostream& out) {
  check(prompt);
  steps = std::min(steps, max_positions);
  const auto given = prompt.first(std::min(prompt.size(), steps));
  model.clear();
  // Passes the first token of the prompt to `extend` in a separate call, because the measured time begins after the
  // first token. The loop then passes the rest of the prompt in one call.
  Logits logits = model.extend(given.first(1));
  Clock::time_point start{};
  TokenId token = given.front();
  std::size_t position = 1;
  for (;; ++position) {
    const TokenId next = position < prompt.size() ? prompt[position] : static_cast<TokenId>(sampler(logits.data()));
    if (next == begin_token) break;
    out << printable(tokenizer.decode(token, next)) << std::flush;
    token = next;
    if (position == 1) start = Clock::now();
    if (position == steps || !out) break;
    if (position == model.length())
      logits = model.extend(position < given.size() ? given.subspan(position) : std::span(&token, 1));
  }
  out << '\n' << std::flush;
  return {position, position > 1 ? seconds_since(start) : 0};
}

}  // namespace stories
