// Tests the generator of texts (model/generation.hpp). After each call, its logits must agree with the logits of a run
// of the whole text without caches, which other tests compare with the oracle.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <memory>
#include <vector>

#include <doctest/doctest.h>
#include <ladon/decoder.hpp>
#include <ladon/encoder.hpp>
#include <ladon/linear.hpp>
#include <ladon/model/embedding.hpp>
#include <ladon/model/generation.hpp>

#include "random.hpp"
#include "random_weights.hpp"

namespace ladon_test {

namespace {

using ladon::Likeliest, ladon::Model, ladon::no_token, ladon::TextGenerator, ladon::TextStatus;
using Tokens = std::vector<std::int32_t>;

constexpr std::size_t vocabulary = 21, width = 12, longest = 13, memory_rows = 7;

// The table has random rows. The head reads the same table, or a table of its own.
template <template <std::size_t> class StackGiven>
struct Tied {
  template <std::size_t Count>
  using Stack = StackGiven<Count>;
  static constexpr std::size_t vocabulary = ladon_test::vocabulary;
  RandomWeights<typename Stack<1>::Weights> random;
  const typename Stack<1>::Weights& weights = random.weights;
  std::vector<float> rows = Random(5).normals(vocabulary * width);
  ladon::EmbeddingTable<vocabulary, width> table{.weight = rows.data()};

  void embed(const std::int32_t* ids, std::size_t, std::size_t tokens, float* x) const {
    ladon::embed(table, ids, tokens, x, 2);
  }
  void head(const float* y, float* logits) const { ladon::linear(table, y, logits); }
};

// Positions are rows of a table, as in GPT-2. The head is untied.
constexpr Model learned(std::size_t tokens) {
  return {.layers = 2,
          .tokens = tokens,
          .keys = longest,
          .model = width,
          .heads = 3,
          .feed_forward = 20,
          .final_norm = ladon::FinalNorm::with,
          .mask = {.causal = true}};
}
template <std::size_t Count>
using LearnedStack = ladon::Encoder<learned(Count)>;
struct Learned : Tied<LearnedStack> {
  std::vector<float> positions = Random(6).normals(longest * width), head_rows = Random(7).normals(vocabulary * width);
  void embed(const std::int32_t* ids, std::size_t first, std::size_t tokens, float* x) const {
    ladon::embed(table, ids, tokens, x);
    ladon::add_positions<longest, width>(positions.data(), first, tokens, x);
  }
  void head(const float* y, float* logits) const {
    ladon::linear(ladon::EmbeddingTable<vocabulary, width>{.weight = head_rows.data()}, y, logits);
  }
};

// Rotary embedding is an option of each call.
constexpr Model rotated(std::size_t tokens) {
  Model model = learned(tokens);
  model.kv_heads = 1;
  model.position = {ladon::Pairing::halves, 4, longest};
  return model;
}
template <std::size_t Count>
using RotatedStack = ladon::Encoder<rotated(Count)>;
struct Rotated : Tied<RotatedStack> {
  ladon::RotaryTable<longest, 4> rotary = ladon::rotary_table<longest, 4>();
  template <class S>
  typename S::Options options() const {
    return {.position = {.table = &rotary}};
  }
};

// The first layer keeps only its window.
constexpr Model of_kinds(std::size_t tokens) {
  Model model = learned(tokens);
  model.kinds = {{.window = 3}, {}};
  model.kind_of_layer = {0, 1};
  model.window_keys = 3 + 5;
  return model;
}
template <std::size_t Count>
using KindsStack = ladon::Encoder<of_kinds(Count)>;

// All layers keep only their window.
constexpr Model windowed(std::size_t tokens) {
  Model model = learned(tokens);
  model.mask.left = 3;
  return model;
}
template <std::size_t Count>
using WindowedStack = ladon::Encoder<windowed(Count)>;

// The same with rotary embedding, whose table has an end.
constexpr Model windowed_and_rotated(std::size_t tokens) {
  Model model = rotated(tokens);
  model.mask.left = 3;
  return model;
}
template <std::size_t Count>
using WindowedAndRotatedStack = ladon::Encoder<windowed_and_rotated(Count)>;

constexpr Model with_memory(std::size_t tokens) {
  Model model = learned(tokens);
  model.memory = memory_rows;
  return model;
}
template <std::size_t Count>
using DecoderStack = ladon::Decoder<with_memory(Count)>;

// Returns the logits behind the text, without caches.
template <class Parts>
std::vector<float> whole(Parts& parts, const Tokens& text, const std::vector<float>& memory) {
  using Stack = typename Parts::template Stack<longest>;
  const std::size_t count = text.size();
  std::vector<float> x(longest * width), y(longest * width), logits(vocabulary);
  parts.embed(text.data(), 0, count, x.data());
  typename Stack::Options options{};
  if constexpr (requires { parts.template options<Stack>(); }) options = parts.template options<Stack>();
  const auto workspace = std::make_unique<typename Stack::Workspace>();
  if constexpr (requires { options.self; }) {
    options.self.tokens = count;
    options.memory.keys = memory.size() / width;
    const std::vector<float> rows = [&] {
      std::vector<float> all(memory);
      all.resize(memory_rows * width);
      return all;
    }();
    Stack::run(x.data(), rows.data(), parts.weights, y.data(), *workspace, options);
  } else {
    options.tokens = count;
    Stack::run(x.data(), parts.weights, y.data(), *workspace, options);
  }
  parts.head(y.data() + (count - 1) * width, logits.data());
  return logits;
}

double difference(const float* actual, const std::vector<float>& expected) {
  double worst = 0;
  for (std::size_t i = 0; i < expected.size(); ++i) {
    const double off = std::abs(static_cast<double>(actual[i]) - static_cast<double>(expected[i]));
    if (!(off <= worst)) worst = off;
  }
  return worst;
}

template <class Generator, class Parts>
void begin(Generator& generator, Parts& parts, const std::vector<float>& memory) {
  if constexpr (Generator::attends_memory) {
    generator.start(parts, memory.data(), memory.size() / width);
  } else {
    generator.clear();
  }
}

// Writes a text behind a prompt of `given` tokens, until the text has `longest` tokens.
template <std::size_t PromptTokens, class Parts>
void check_text(Parts& parts, std::size_t given, const std::vector<float>& memory = {}) {
  CAPTURE(PromptTokens);
  CAPTURE(given);
  const auto generator = std::make_unique<TextGenerator<Parts, PromptTokens, Likeliest<vocabulary>>>();
  Tokens text, first;
  for (std::size_t i = 0; i < given; ++i) text.push_back(static_cast<std::int32_t>(i * i * 5 % vocabulary));
  for (int repeated = 0; repeated < 2; ++repeated) {
    text.resize(given);
    begin(*generator, parts, memory);
    CHECK(generator->length() == 0);
    std::int32_t token = generator->next(parts, text.data(), given);
    for (;; token = generator->next(parts, &token, 1)) {
      const std::vector<float> expected = whole(parts, text, memory);
      CHECK(generator->status() == TextStatus::ready);
      CHECK(generator->length() == text.size());
      CHECK(difference(generator->logits(), expected) <= 1e-4);
      CHECK(token == Likeliest<vocabulary>{}(generator->logits()));
      if (text.size() == longest) break;
      text.push_back(token);
    }
    if (repeated == 0) first = text;
  }
  CHECK(text == first);
}

template <class Parts>
void check_texts(const std::vector<float>& memory = {}) {
  const auto parts = std::make_unique<Parts>();
  for (const std::size_t given : {1u, 2u, 5u, 6u, 11u, 13u}) {
    check_text<1>(*parts, given, memory);
    check_text<2>(*parts, given, memory);
    check_text<5>(*parts, given, memory);
  }
}

}  // namespace

TEST_CASE("texts agree with runs of the whole text") {
  check_texts<Learned>();
  check_texts<Rotated>();
  check_texts<Tied<KindsStack>>();
  check_texts<Tied<WindowedStack>>();
}

TEST_CASE("texts of a decoder with a memory") {
  for (const std::size_t rows : {std::size_t{1}, std::size_t{4}, memory_rows})
    check_texts<Tied<DecoderStack>>(Random(9).normals(rows * width));
}

TEST_CASE("a prompt in pieces gives the bits of the whole prompt") {
  Rotated parts;
  using Generator = TextGenerator<Rotated, 4, Likeliest<vocabulary>>;
  const auto whole_prompt = std::make_unique<Generator>(), pieces = std::make_unique<Generator>();
  const Tokens prompt{3, 1, 4, 1, 5, 9, 2, 6, 5, 3, 5};
  std::int32_t token = whole_prompt->next(parts, prompt.data(), prompt.size());
  CHECK(pieces->append(parts, prompt.data(), 4) == TextStatus::ready);
  CHECK(pieces->length() == 4);
  CHECK(pieces->append(parts, Tokens(longest).data(), longest) == TextStatus::full);
  CHECK(pieces->append(parts, prompt.data() + 4, 4) == TextStatus::ready);
  CHECK(pieces->logits()[0] == 0);  // not computed yet
  CHECK(pieces->next(parts, prompt.data() + 8, 3) == token);
  for (std::size_t length = prompt.size(); length < longest; ++length) {
    const std::vector<float> expected(whole_prompt->logits(), whole_prompt->logits() + vocabulary);
    CHECK(difference(pieces->logits(), expected) == 0);
    const std::int32_t next = whole_prompt->next(parts, &token, 1);
    CHECK(pieces->next(parts, &token, 1) == next);
    token = next;
  }
}

TEST_CASE("a generator needs no initial values in flash") {
  static constinit TextGenerator<Learned, 4> generator;
  const auto* bytes = reinterpret_cast<const unsigned char*>(&generator);
  CHECK(std::all_of(bytes, bytes + sizeof generator, [](unsigned char byte) { return byte == 0; }));
}

TEST_CASE("what cannot be read changes nothing") {
  Learned parts;
  TextGenerator<Learned, 4> generator;
  const Tokens text{3, 1, 4, 1, 5, 9, 2, 6, 5, 3, 5, 8, 9, 7};
  static_assert(generator.capacity == longest);
  CHECK(generator.status() == TextStatus::empty);
  CHECK(generator.next(parts, text.data(), 0) == no_token);
  CHECK(generator.status() == TextStatus::empty);
  CHECK(generator.next(parts, text.data(), 14) == no_token);
  CHECK(generator.status() == TextStatus::full);
  CHECK(generator.next(parts, text.data(), 6) != no_token);
  const std::vector<float> logits(generator.logits(), generator.logits() + vocabulary);
  for (const std::int32_t bad : {-1, 21, 2000000000}) {
    const Tokens ids{1, 2, bad};
    CHECK(generator.next(parts, ids.data(), 3) == no_token);
    CHECK(generator.status() == TextStatus::unknown_token);
  }
  CHECK(generator.read(parts, text.data(), 8) == TextStatus::full);
  CHECK(generator.length() == 6);
  CHECK(generator.read(parts, text.data(), 0) == TextStatus::ready);
  CHECK(difference(generator.logits(), logits) == 0);
  CHECK(generator.read(parts, text.data() + 6, 7) == TextStatus::ready);
  CHECK(difference(generator.logits(), whole(parts, {text.begin(), text.begin() + 13}, {})) <= 1e-4);
  CHECK(generator.next(parts, text.data(), 1) == no_token);
  CHECK(generator.status() == TextStatus::full);
  generator.clear();
  CHECK(generator.length() == 0);
  CHECK(generator.read(parts, text.data(), 0) == TextStatus::empty);
  CHECK(generator.read(parts, text.data(), 13) == TextStatus::ready);
}

TEST_CASE("a text whose caches keep a window has no end") {
  Tied<WindowedStack> parts;
  TextGenerator<Tied<WindowedStack>, 4, Likeliest<vocabulary>> generator;
  static_assert(generator.capacity == ladon::all);
  static_assert(TextGenerator<Tied<WindowedAndRotatedStack>, 4>::capacity == longest);
  std::int32_t token = 1;
  for (std::size_t i = 0; i < 100; ++i) CHECK((token = generator.next(parts, &token, 1)) != no_token);
  CHECK(generator.length() == 100);
}

TEST_CASE("logits that are no numbers give no token") {
  Learned parts;
  TextGenerator<Learned, 4> generator;
  std::ranges::fill(parts.head_rows, std::nanf(""));
  const Tokens text{3, 1, 4};
  CHECK(generator.next(parts, text.data(), 3) == no_token);
  CHECK(generator.status() == TextStatus::ready);
}

TEST_CASE("seeds and penalties change the text") {
  Rotated parts;
  using Generator = TextGenerator<Rotated, 4>;
  const auto generator = std::make_unique<Generator>();
  const auto write = [&](std::uint64_t seed) {
    generator->clear();
    generator->choose.start({.temperature = 3, .seed = seed});
    Tokens text{1};
    while (text.size() < longest) text.push_back(generator->next(parts, &text.back(), 1));
    return text;
  };
  const Tokens one = write(1);
  CHECK(write(1) == one);
  CHECK(write(2) != one);
  generator->clear();
  generator->choose.start({});
  const std::int32_t likeliest = generator->next(parts, one.data(), 1);
  ladon::penalise_repetition<vocabulary>(&likeliest, 1, 1e30f, generator->logits());
  CHECK(generator->choose(generator->logits()) != likeliest);
}

}  // namespace ladon_test
