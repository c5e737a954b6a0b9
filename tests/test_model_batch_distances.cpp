// Tests calls for several texts (ladon/model/batch.hpp) of models whose scores depend on the distance of key and query:
// rotary tables, relative biases, ALiBi, windows and causal masks. The oracle computes each text alone, from position 0
// on. It bounds the rounding errors of a float32 result, wherever the text stands in the call.
#include <algorithm>
#include <cstring>
#include <memory>
#include <numeric>
#include <span>
#include <type_traits>
#include <vector>

#include <doctest/doctest.h>

#include <ladon/encoder.hpp>
#include <ladon/model/batch.hpp>
#include <ladon/model/text.hpp>

#include "encoder_check.hpp"
#include "forms.hpp"
#include "guarded_run.hpp"
#include "random.hpp"
#include "random_part.hpp"
#include "weight_views.hpp"

namespace ladon_test {

namespace {

using ladon::Model, ladon::detail::value_of;
using Counts = std::vector<std::size_t>;

constexpr std::size_t capacity = 70, most = 66;  // tokens of a text, and of a call for several texts
constexpr Model plain{.layers = 2, .tokens = capacity, .model = 24, .heads = 3, .feed_forward = 20};
constexpr Model with(Model model, ladon::MaskKind mask) {
  model.mask = mask;
  return model;
}
constexpr Model with_rotary = [] {
  Model model = plain;
  model.position = {.pairing = ladon::Pairing::halves, .width = 8, .positions = capacity};
  return model;
}();
// Layers with a window and layers without one, whose rotary tables differ (ModernBERT).
constexpr Model with_kinds = [] {
  Model model = with_rotary;
  model.norm = ladon::NormOrder::pre;
  model.kinds = {{.window = 5}, {}};
  return model;
}();

constexpr double base_of(std::size_t kind) { return kind == 0 ? 10000 : 100; }

// The options with the tables of the model, without lengths.
template <class Stack>
typename Stack::Options options_of() {
  typename Stack::Options options{};
  if constexpr (requires { options.position.table; }) {
    using Table = ladon::RotaryTable<capacity, 8>;
    static const Table tables[] = {ladon::rotary_table<capacity, 8>(base_of(0)),
                                   ladon::rotary_table<capacity, 8>(base_of(1))};
    if constexpr (std::is_array_v<decltype(options.position.table)>) {
      options.position.table[0] = &tables[0], options.position.table[1] = &tables[1];
    } else {
      options.position.table = &tables[0];
    }
  }
  const auto set = [](auto& data) {
    using Table = std::remove_cvref_t<decltype(*data.table)>;
    static const Table table = [] {
      Table filled;
      constexpr auto last = static_cast<std::ptrdiff_t>(Stack::model.tokens) - 1;
      for (std::size_t head = 0; head < plain.heads; ++head)
        for (std::ptrdiff_t distance = -last; distance <= last; ++distance)
          filled.set(head, distance, relative_number(head, distance));
      return filled;
    }();
    data.table = &table;
  };
  if constexpr (requires { options.mask.table; }) set(options.mask);
  if constexpr (requires { options.mask.second.table; }) set(options.mask.second);
  return options;
}

// What the oracle needs for layer number `layer`.
oracle::Heads heads_of_layer(const Model& model, std::size_t layer) {
  oracle::Heads heads = heads_of(model.shape());
  if (model.position.positions != 0)
    heads.score.rotary = {.width = 8, .halves = true, .base = base_of(model.kinds.count == 0 ? 0 : layer % 2)};
  const auto distance = [](std::size_t query, std::size_t key) {
    return static_cast<std::ptrdiff_t>(key) - static_cast<std::ptrdiff_t>(query);
  };
  if (model.mask.relative)
    heads.score.biases.push_back([=](std::size_t head, std::size_t query, std::size_t key) {
      return Real(static_cast<double>(relative_number(head, distance(query, key))));
    });
  if (model.mask.alibi)
    heads.score.biases.push_back([=](std::size_t head, std::size_t query, std::size_t key) {
      const float slopes[] = {1.0f / 16, 1.0f / 256, 1.0f / 4};  // of 2 heads, and the first of 4 heads
      return rounded(static_cast<double>(slopes[head]) * static_cast<double>(distance(query, key)), 0, 0, 2);
    });
  return heads;
}
oracle::MaySee mask_of_layer(const Model& model, std::size_t layer) {
  const std::size_t window = model.kinds.count == 0 ? 0 : model.kinds.items[layer % 2].window;
  const std::size_t left = window != 0 ? window : model.mask.left;
  const std::size_t right = model.mask.causal ? 0 : window != 0 ? window : model.mask.right;
  return [=](std::size_t query, std::size_t key) { return key > query ? key - query <= right : query - key <= left; };
}

template <Model M>
struct Problem {
  using Single = ladon::Encoder<M>;
  using Together = ladon::Encoder<ladon::model_of_texts(M, most)>;
  static_assert(std::is_same_v<typename Single::Weights, typename Together::Weights>);
  struct Memory {
    typename Single::Workspace single;
    ladon::ShortTextWorkspace<Single> short_text;
    ladon::TextsWorkspace<Together, most> together;
  };

  EncoderProblem encoder = random_encoder(M.shape(), {.layers = M.layers, .layer = M}, 1);
  std::vector<Floats> tensors{};
  typename Single::Weights weights{};

  Problem() {
    for (const auto& layer : encoder.layers) append_tensors(tensors, WeightLayout::in_proj, M.shape(), layer);
    std::vector<const float*> pointers;
    for (const Floats& tensor : tensors) pointers.push_back(tensor.data());
    const float* const* next = pointers.data();
    point_layers(weights.layers, next, encoder.form.epsilon);
  }

  void run_single(const float* x, std::size_t tokens, float* y, Memory& memory) const {
    auto options = options_of<Single>();
    options.tokens = tokens;
    ladon::run_text(x, weights, y, memory.single, memory.short_text, options);
  }

  // Computes the rows `y` of all tokens of a share from the rows `x`.
  void run_batch(const ladon::Texts& texts, const float* x, float* y, Memory& memory, ladon::Share share = {}) const {
    std::memset(static_cast<void*>(&memory), 0xff, sizeof memory);  // each float becomes NaN
    ladon::for_each_call(texts, most, share, [&](const ladon::Texts& part, std::size_t) {
      const std::ptrdiff_t first = (part.ids - texts.ids) * static_cast<std::ptrdiff_t>(M.model);
      if (part.count == 1) return run_single(x + first, part.lengths[0], y + first, memory);
      ladon::run_together<Together>(part, x + first, weights, y + first, memory.together, options_of<Together>());
    });
  }

  Expected expected(const float* rows, std::size_t tokens) const {
    oracle::Matrix x(tokens, M.model, rows);
    for (std::size_t i = 0; i < M.layers; ++i)
      x = oracle::encoder_layer(x, encoder.layers[i], heads_of_layer(value_of<M>, i), M, tokens, tokens,
                                mask_of_layer(value_of<M>, i))
              .out;
    return {x.data.begin(), x.data.end()};
  }
};

const std::vector<Counts> batches{{1, 1},         {7, 31, 2, 1},   {33, 33},           {1, 65},
                                  {65, 1, 70, 2}, {31, 33, 2, 64}, Counts(most + 5, 1)};

template <Model M>
void check() {
  using Memory = typename Problem<M>::Memory;
  const Problem<M> problem;
  const auto memory = std::make_unique<Memory>(), other_memory = std::make_unique<Memory>();
  for (const Counts& lengths : batches) {
    const std::size_t tokens = std::accumulate(lengths.begin(), lengths.end(), std::size_t{0});
    const Floats x = Random(tokens).normals(tokens * M.model);
    const std::vector<std::int32_t> ids(tokens);
    const ladon::Texts texts{ids.data(), lengths.data(), lengths.size()};
    const Floats y = run_twice(x.size(), [&](float* to) { problem.run_batch(texts, x.data(), to, *memory); });
    ladon::for_each_text(texts, [&](const ladon::BatchText& text) {
      CAPTURE(text.tokens);
      CAPTURE(text.first);
      const std::size_t first = text.first * M.model, count = text.tokens * M.model;
      const Expected expected = problem.expected(x.data() + first, text.tokens);
      CHECK(worst_distance(std::span(y).subspan(first, count), expected) <= 1);
      Floats alone(count);
      problem.run_single(x.data() + first, text.tokens, alone.data(), *other_memory);
      CHECK(worst_distance(alone, expected) <= 1);
    });
    Floats in_team(x.size(), poison());
    for (std::size_t i = 2; i-- > 0;) problem.run_batch(texts, x.data(), in_team.data(), *other_memory, {i, 2});
    CHECK(same_bits(in_team, y));
  }
}

// A model may name the sizes of its caches.
constexpr Model with_caches = [] {
  Model model = with_kinds;
  model.keys = capacity, model.window_keys = capacity + 5;
  return model;
}();
static_assert(ladon::model_of_texts(with_caches, most).shape().keys == most);
static_assert(ladon::model_of_texts(with_caches, most).window_keys == 0);

}  // namespace

TEST_CASE("texts share a call: rotary positions") { check<with_rotary>(); }
TEST_CASE("texts share a call: rotary positions, causal") { check<with(with_rotary, {.causal = true})>(); }
TEST_CASE("texts share a call: kinds of layers with a window and other angles") { check<with_kinds>(); }
TEST_CASE("texts share a call: relative biases") { check<with(plain, {.relative = true})>(); }
TEST_CASE("texts share a call: ALiBi, causal") { check<with(plain, {.causal = true, .alibi = true})>(); }
TEST_CASE("texts share a call: a window, relative biases and ALiBi") {
  check<with(plain, {.left = 9, .right = 3, .alibi = true, .relative = true})>();
}
TEST_CASE("texts share a call: a window wider than the call, causal") {
  constexpr ladon::MaskKind mask = ladon::model_of_texts(with(plain, {.causal = true, .left = most + 80}), most).mask;
  static_assert(mask.left == ladon::all && mask.causal && mask.bits);
  static_assert(ladon::model_of_texts(with(plain, {.left = most - 1, .right = most}), most).mask.left == most - 1);
  check<with(plain, {.causal = true, .left = most + 2})>();
}

}  // namespace ladon_test
