#include <doctest/doctest.h>

#include <sstream>
#include <string>

#include "error.hpp"
#include "fixtures.hpp"
#include "generate.hpp"
#include "printable.hpp"

namespace stories {
namespace {

struct Storyteller {
  Model model{model_file()};
  Tokenizer tokenizer{tokenizer_file()};

  std::string tell(const std::string& prompt, std::size_t steps, Sampler sampler = Sampler()) {
    std::ostringstream out;
    timing = generate(model, tokenizer, sampler, tokenizer.encode(prompt), steps, out);
    return out.str();
  }

  // Tells a story as tell() does, but feeds the tokens to the model one by one.
  std::string tell_step_by_step(const std::string& prompt, std::size_t steps) {
    Sampler sampler;
    const auto tokens = tokenizer.encode(prompt);
    std::string text;
    model.clear();
    TokenId token = tokens.front();
    for (std::size_t position = 1; position <= steps; ++position) {
      const TokenId likeliest = static_cast<TokenId>(sampler(model.extend(std::span(&token, 1)).data()));
      const TokenId next = position < tokens.size() ? tokens[position] : likeliest;
      if (next == begin_token) break;
      text += printable(tokenizer.decode(token, next));
      token = next;
    }
    return text + '\n';
  }

  Timing timing;
};

Sampler at_random(std::uint64_t seed) { return Sampler({.temperature = 1, .top_p = 0.9f, .seed = seed}); }

// A prompt of 152 tokens. The model takes a prompt in chunks of 32 tokens (network_of.hpp), so this prompt fills four
// chunks and a part of a fifth chunk. The tests also use beginnings of this text as shorter prompts.
const std::string long_prompt = [] {
  std::string text;
  for (int i = 0; i < 6; ++i) text += "Once upon a time there was a dog. He was sad, so he ran to the park. ";
  return text;
}();

}  // namespace

TEST_SUITE_BEGIN("generate");

TEST_CASE("a prompt at once gives the text of the prompt step by step") {
  LADON_SKIP_WITHOUT(model_file());
  Storyteller storyteller;
  for (const std::size_t length : {0u, 1u, 16u, 60u, 90u, 100u, 140u, 200u, 333u, 400u}) {
    const std::string prompt = long_prompt.substr(0, length);
    CAPTURE(prompt);
    CHECK(storyteller.tell(prompt, 256) == storyteller.tell_step_by_step(prompt, 256));
  }
}

TEST_CASE("steps count every position, prompt included") {
  LADON_SKIP_WITHOUT(model_file());
  Storyteller storyteller;
  CHECK(storyteller.tell("Once upon a time", 1) == "Once\n");
  CHECK(storyteller.timing.positions == 1);
  CHECK(storyteller.tell("Once upon a time", 4) == "Once upon a time\n");
  CHECK(storyteller.tell("Once upon a time", 5) == "Once upon a time,\n");
  CHECK(storyteller.timing.positions == 5);
  CHECK(storyteller.tell("", 1) == "Once\n");
  CHECK(storyteller.tell("", 2) == "Once upon\n");
  const std::string longest = storyteller.tell("", 9999);
  CHECK(longest == storyteller.tell("", max_positions));
  CHECK(storyteller.timing.positions <= max_positions);
  CHECK(storyteller.timing.tokens_per_second() > 0);
}

TEST_CASE("a text does not depend on earlier texts") {
  LADON_SKIP_WITHOUT(model_file());
  Storyteller storyteller;
  const std::string first = storyteller.tell("The little dog", 100);
  static_cast<void>(storyteller.tell(long_prompt, 300));
  CHECK(storyteller.tell("The little dog", 100) == first);
}

TEST_CASE("equal seeds give equal stories, another seed gives another story") {
  LADON_SKIP_WITHOUT(model_file());
  Storyteller storyteller;
  const std::string one = storyteller.tell("The little dog", 200, at_random(1));
  CHECK(one.starts_with("The little dog"));
  CHECK(storyteller.tell("The little dog", 200, at_random(1)) == one);
  CHECK(storyteller.tell("The little dog", 200, at_random(2)) != one);
}

TEST_CASE("a prompt of 512 tokens is accepted, and a prompt of 513 tokens is refused") {
  LADON_SKIP_WITHOUT(model_file());
  Storyteller storyteller;
  const auto prompt_of = [](std::size_t tokens) { return std::string(tokens - 2, 'Q'); };  // each Q is a separate token
  REQUIRE(storyteller.tokenizer.encode(prompt_of(512)).size() == 512);
  CHECK(storyteller.tell(prompt_of(512), 512).starts_with(prompt_of(512)));
  CHECK(storyteller.tell(prompt_of(512), 10) == prompt_of(11) + '\n');
  CHECK_THROWS_WITH_AS(static_cast<void>(storyteller.tell(prompt_of(513), 512)),
                       "the prompt is too long: expected at most 512 tokens, found 513", examples::Error);
}

TEST_SUITE_END();

}  // namespace stories
