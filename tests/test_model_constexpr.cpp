// Tests the parts of models outside the layers (ladon/model) in constant evaluation, with numbers that are easy to
// verify by hand.
#include <array>
#include <cstdint>
#include <limits>

#include <doctest/doctest.h>

#include <ladon/ladon.hpp>

namespace {

template <std::size_t N>
constexpr bool is_near(const std::array<float, N>& actual, const std::array<float, N>& expected) {
  for (std::size_t i = 0; i < N; ++i) {
    const float off = actual[i] - expected[i];
    if (!(off <= 1e-5f && -off <= 1e-5f)) return false;
  }
  return true;
}

constexpr std::int32_t ids[] = {2, 0};

template <class Table>
constexpr std::array<float, 16> embedded(const Table& table) {
  std::array<float, 16> y{};
  ladon::embed(table, ids, 2, y.data(), 2);
  return y;
}

constexpr float rows[] = {1, 2, 3, 4, 5, 6, 7, 8, 0, 0, 0, 0, 0, 0, 0, 0, -1, 0, 1, 0, 0, 0, 0, 0};
constexpr std::int8_t integers[] = {1, 2, 3, 4, 5, 6, 7, 8, 0, 0, 0, 0, 0, 0, 0, 0, 8, 0, 0, 0, 0, 0, 0, 0};
constexpr float scales[] = {1, 1, -0.25f};
constexpr std::int32_t row_sums[] = {36, 0, 8};

constexpr ladon::EmbeddingTable<3, 8> floats{.weight = rows};
static_assert(embedded(floats) == std::array<float, 16>{-2, 0, 2, 0, 0, 0, 0, 0, 2, 4, 6, 8, 10, 12, 14, 16});
static_assert(ladon::has_ids(floats, ids, 2));

constexpr ladon::EmbeddingTable<3, 8, ladon::precision::Int8<8>> int8{
    .weight = integers, .scale = scales, .row_sum = row_sums};
static_assert(embedded(int8) == std::array<float, 16>{-4, 0, 0, 0, 0, 0, 0, 0, 2, 4, 6, 8, 10, 12, 14, 16});

// The first column of the matrix H is 1 1 1 .., so a rotated row (8, 0, 0, ..) has eight equal numbers.
constexpr ladon::EmbeddingTable<3, 8, ladon::precision::Int8<8, true>> rotated{
    .weight = integers, .scale = scales, .row_sum = row_sums};
static_assert(embedded(rotated)[0] == -4 && embedded(rotated)[7] == -4);

constexpr std::array<float, 6> positions() {
  ladon::PositionTable<2, 3> table{};
  ladon::fill_sinusoids(table);
  std::array<float, 6> x{1, 1, 1, 1, 1, 1};
  ladon::add_positions(table, 0, 2, x.data());
  ladon::add_row(ladon::VectorView<const float, 3>(&rows[0]), 1, x.data());
  return x;
}
// sin 1 = 0.841471, sin(10000^(-2/3)) = 0.00215443, cos 1 = 0.540302
static_assert(is_near(positions(), {2, 3, 5, 1.841471f, 1.00215443f, 1.540302f}));

constexpr std::array<float, 4> with_types(const std::int32_t* types) {
  std::array<float, 4> x{1, 1, 2, 2};
  ladon::add_types(ladon::MatrixView<const float, 3, 2>(&rows[0]), types, 2, x.data());
  return x;
}
constexpr std::int32_t types[] = {2, 0};
static_assert(with_types(types) == std::array<float, 4>{6, 7, 3, 4});
static_assert(with_types(nullptr) == std::array<float, 4>{2, 3, 3, 4});

constexpr std::array<float, 4> norms() {
  constexpr float weight[] = {2, 2};
  const ladon::Norm<2, ladon::NormKind::rms> rms{.weight = weight, .epsilon = 0};
  std::array<float, 4> x{3, 3, 3, 4};
  ladon::normalise(rms, 1, x.data(), x.data());
  ladon::unit_length<2>(1, x.data() + 2);
  return x;
}
static_assert(is_near(norms(), {2, 2, 0.6f, 0.8f}));

constexpr std::array<float, 2> normalised_without_gain() {
  std::array<float, 2> x{1, 5};
  ladon::normalise_without_gain<2, ladon::NormKind::layer>(0, 1, x.data(), x.data());
  return x;
}
static_assert(is_near(normalised_without_gain(), {-1, 1}));

constexpr std::array<float, 3> activated() {
  std::array<float, 3> x{-1, 2, 0.5f};
  ladon::activate<ladon::Activation::relu>(x.data(), 2);
  ladon::tanh(x.data() + 2, 1);
  return x;
}
static_assert(is_near(activated(), {0, 2, 0.462117f}));

constexpr std::array<float, 8> pooled() {
  constexpr float x[] = {1, 6, 5, 2};
  std::array<float, 8> y{};
  ladon::mean_pool<2>(x, 2, y.data());
  ladon::max_pool<2>(x, 2, y.data() + 2);
  ladon::first_row<2>(x, 2, y.data() + 4);
  ladon::last_row<2>(x, 2, y.data() + 6);
  return y;
}
static_assert(pooled() == std::array<float, 8>{3, 4, 5, 6, 1, 6, 5, 2});

template <std::size_t Rows, class Precision>
constexpr std::array<float, 9> multiplied(
    const ladon::Linear<3, 8, ladon::Order::out_in, ladon::Bias::with, Precision>& w) {
  using Map = ladon::LinearRows<Rows, 3, 8, ladon::Order::out_in, ladon::Bias::with, Precision>;
  constexpr float x[] = {1, 1, 1, 1, 1, 1, 1, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 2, 0, 0, 0, 0, 0};
  typename Map::Workspace workspace{};
  std::array<float, 9> y{};
  Map::run(x, w, y.data(), workspace, Rows);
  return y;
}
constexpr float bias[] = {0, 1, 0};
constexpr ladon::Linear<3, 8> linear{.weight = rows, .bias = bias};
constexpr ladon::Linear<3, 8, ladon::Order::out_in, ladon::Bias::with, ladon::precision::Int8<8>> int8_linear{
    .weight = integers, .scale = scales, .row_sum = row_sums, .bias = bias};
static_assert(multiplied<3>(linear) == std::array<float, 9>{36, 1, 0, 1, 1, -1, 6, 1, 2});
static_assert(multiplied<1>(linear) == std::array<float, 9>{36, 1, 0});
static_assert(is_near(multiplied<3>(int8_linear), {36, 1, -2, 1, 1, -2, 6, 1, 0}));

// test_model_sampling.cpp has these tokens, too.
constexpr std::array<std::int32_t, 12> sampled() {
  constexpr float logits[] = {1, 3, -2, 2.5f, 0, -std::numeric_limits<float>::infinity(), 2.75f};
  ladon::Sampler<7> sampler({.temperature = 0.8f, .top_k = 6, .top_p = 0.98f, .seed = 5});
  std::array<std::int32_t, 12> tokens{};
  for (auto& token : tokens) token = sampler(logits);
  return tokens;
}
static_assert(sampled() == std::array<std::int32_t, 12>{1, 6, 6, 6, 1, 1, 1, 1, 6, 3, 3, 1});

// All weights of the layer are 0, so its output is its input. Row i + 1 of the head is row i of the table.
constexpr float no_weights[12]{}, corners[] = {1, 1, 1, -1, -1, -1, -1, 1},
                                  next_corners[] = {-1, 1, 1, 1, 1, -1, -1, -1};
constexpr const float* zeros = no_weights;
constexpr ladon::Model tiny(std::size_t tokens) {
  return {.tokens = tokens,
          .keys = 4,
          .model = 2,
          .heads = 1,
          .feed_forward = 2,
          .norm = ladon::NormOrder::pre,
          .mask = {.causal = true}};
}
struct Counting {
  template <std::size_t Tokens>
  using Stack = ladon::Encoder<tiny(Tokens)>;
  static constexpr std::size_t vocabulary = 4;
  Stack<1>::Weights weights{.layers = {{{.attention = {.in_proj = {zeros, zeros}, .out_proj = {zeros, zeros}},
                                         .linear1 = {zeros, zeros},
                                         .linear2 = {zeros, zeros},
                                         .norm1 = {.weight = zeros, .bias = zeros},
                                         .norm2 = {.weight = zeros, .bias = zeros}}}}};
  constexpr void embed(const std::int32_t* text, std::size_t, std::size_t tokens, float* x) const {
    ladon::embed(ladon::EmbeddingTable<4, 2>{.weight = corners}, text, tokens, x);
  }
  constexpr void head(const float* y, float* logits) const {
    ladon::linear(ladon::EmbeddingTable<4, 2>{.weight = next_corners}, y, logits);
  }
};
constexpr std::array<std::int32_t, 4> counted() {
  Counting parts;
  ladon::TextGenerator<Counting, 2> generator;
  constexpr std::int32_t prompt[] = {3, 0};
  std::array<std::int32_t, 4> tokens{generator.next(parts, prompt, 2)};
  for (std::size_t i = 1; i < 4; ++i) tokens[i] = generator.next(parts, &tokens[i - 1], 1);
  return tokens;
}
static_assert(counted() == std::array<std::int32_t, 4>{1, 2, 3, ladon::no_token});  // the text is full

}  // namespace

TEST_CASE("linear maps of rows: the compiler and the program compute the same numbers") {
  CHECK(multiplied<3>(linear) == std::array<float, 9>{36, 1, 0, 1, 1, -1, 6, 1, 2});
}

TEST_CASE("embeddings: the compiler and the program compute the same numbers") {
  constexpr auto expected = embedded(rotated);
  CHECK(embedded(rotated) == expected);
  CHECK(is_near(positions(), {2, 3, 5, 1.841471f, 1.00215443f, 1.540302f}));
  CHECK(is_near(norms(), {2, 2, 0.6f, 0.8f}));
}
