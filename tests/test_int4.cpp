// Tests weights of 4 bits: results must be bit-identical to those of the int8 weights to which the codes expand.
// test_int8.cpp compares int8 weights with the oracle. Also tests `quantise` and `row_sums` for 4 bits.
#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <deque>
#include <limits>
#include <type_traits>
#include <vector>

#include <doctest/doctest.h>

#include <ladon/ladon.hpp>

#include "layer_product.hpp"

namespace {

using S = ladon::Shape;
using ladon::Activation, ladon::Bias, ladon::Linear, ladon::Model, ladon::NormOrder, ladon::Order;
using ladon::layout::InProj, ladon::layout::SeparateQKV, ladon::layout::WithoutBias;
using ladon_test::ProductRandom;

constexpr std::size_t no_int8 = std::numeric_limits<std::size_t>::max();

// The memory of random weights. Two objects with the same seed make weights that stand for the same numbers.
class RandomWeights {
 public:
  // Each linear map with 4 bits whose number is a multiple of `int8_period` has int8 weights in place of its codes.
  explicit RandomWeights(std::size_t int8_period) : int8_period_(int8_period) {}

  template <class Weights>
  void fill(Weights& to) {
    if constexpr (requires { to.attention; }) {
      fill(to.attention), fill(to.linear1), fill(to.linear2), fill(to.norm1), fill(to.norm2);
      if constexpr (requires { to.gate.weight; }) fill(to.gate);
    } else if constexpr (requires { to.in_proj; }) {
      fill(to.in_proj), fill(to.out_proj);
    } else {
      fill(to.query_proj), fill(to.key_proj), fill(to.value_proj), fill(to.out_proj);
    }
  }
  template <std::size_t Out, std::size_t In, Bias B, int Bits, bool Rotated, int WeightBits>
  void fill(Linear<Out, In, Order::out_in, B, ladon::precision::Int8<Bits, Rotated, WeightBits>>& to) {
    constexpr std::size_t bytes = ladon::int4_row_bytes(In);
    const Linear<Out, In, Order::out_in, Bias::without> floats{random(Out * In)};
    auto& codes = codes_.emplace_back(Out * bytes);
    auto& scale = floats_.emplace_back(Out);
    auto& sums = sums_.emplace_back(Out);
    if constexpr (Rotated) {
      REQUIRE(ladon::quantise_rotated_int4(floats, codes.data(), scale.data()));
    } else {
      REQUIRE(ladon::quantise_int4(floats, codes.data(), scale.data()));
    }
    if (WeightBits == 4 && number_++ % int8_period_ != 0) {
      if constexpr (WeightBits == 4) to.weight = codes.data();
      ladon::int4_row_sums<Out, In>(codes.data(), sums.data());
    } else {
      auto& weight = integers_.emplace_back(Out * In);
      std::vector<std::int8_t> row(ladon::detail::int4_groups(In) * ladon::detail::int4_group);
      for (std::size_t r = 0; r < Out; ++r) {
        ladon::detail::expand_int4_row(codes.data() + r * bytes, In, row.data());
        std::copy_n(row.begin(), In, weight.begin() + static_cast<std::ptrdiff_t>(r * In));
      }
      if constexpr (WeightBits == 4) {
        to.int8_weight = weight.data();
      } else {
        to.weight = weight.data();
      }
      ladon::row_sums<Out, In>(weight.data(), sums.data());
    }
    to.scale = scale.data();
    to.row_sum = sums.data();
    if constexpr (B == Bias::with) to.bias = random(Out);
  }
  template <std::size_t Size>
  void fill(ladon::Norm<Size>& to) {
    to.weight = random(Size);
    to.bias = random(Size);
  }
  const float* random(std::size_t count) {
    auto& numbers = floats_.emplace_back(count);
    for (float& x : numbers) x = random_.number();
    return numbers.data();
  }

 private:
  ProductRandom random_{7};
  std::size_t int8_period_, number_ = 1;
  std::deque<std::vector<float>> floats_;
  std::deque<std::vector<std::uint8_t>> codes_;
  std::deque<std::vector<std::int8_t>> integers_;
  std::deque<std::vector<std::int32_t>> sums_;
};

// Runs a kernel twice in memory of NaN, and returns the bits of y.
template <class Kernel, std::size_t Int8Period = no_int8>
std::vector<std::uint32_t> bits_of(std::size_t tokens) {
  static RandomWeights memory(Int8Period);  // quantised once, because sanitizers make it slow
  static const auto weights = [] {
    typename Kernel::Weights filled;
    memory.fill(filled);
    return filled;
  }();
  constexpr std::size_t model = Kernel::shape.model;
  static const float* const input = memory.random(Kernel::shape.queries * model);
  std::vector<std::uint32_t> bits;
  static typename Kernel::Workspace workspace;
  typename Kernel::Options options{};
  options.queries = options.keys = tokens;
  for (int call = 0; call < 2; ++call) {
    std::fill_n(reinterpret_cast<unsigned char*>(&workspace), sizeof workspace, static_cast<unsigned char>(0xff));
    std::vector<float> y(tokens * model, NAN);
    Kernel::run(input, weights, y.data(), workspace, options);
    for (const float one : y) {
      CHECK(std::isfinite(one));
      bits.push_back(std::bit_cast<std::uint32_t>(one));
    }
  }
  CHECK(std::equal(bits.begin(), bits.begin() + static_cast<std::ptrdiff_t>(bits.size() / 2),
                   bits.begin() + static_cast<std::ptrdiff_t>(bits.size() / 2)));
  return bits;
}

template <S Shape, Model Config, class Layout, bool Rotated = false, int Bits = 8,
          class Vectors = ladon::detail::vec::NativeVectors>
void check_layer() {
  using ladon::precision::Int4, ladon::precision::Int8;
  using Four = typename Layout::template With<Int4<Bits, Rotated>>;
  using Eight = typename Layout::template With<Int8<Bits, Rotated>>;
  using ladon::position::Unrotated, ladon::score::Scaled, ladon::mask::Causal;
  for (std::size_t tokens = 1; tokens <= Shape.queries; tokens += tokens < 5 ? 1 : 6) {
    CAPTURE(tokens);
    using Int4Layer = ladon::EncoderLayer<Config.with(Shape), Causal, Four, Scaled, Unrotated, Vectors>;
    const auto expected =
        bits_of<ladon::EncoderLayer<Config.with(Shape), Causal, Eight, Scaled, Unrotated, Vectors>>(tokens);
    CHECK(bits_of<Int4Layer>(tokens) == expected);
    CHECK(bits_of<Int4Layer, 2>(tokens) == expected);
  }
}

}  // namespace

TEST_CASE("int4: attention, odd widths, grouped heads, values of another width") {
  constexpr S shape{.queries = 19, .model = 13, .heads = 4, .kv_heads = 2, .head_width = 5, .value_width = 7};
  CHECK(bits_of<ladon::MultiHeadAttention<shape, ladon::mask::Causal, ladon::layout::Int4<SeparateQKV>>>(19) ==
        bits_of<ladon::MultiHeadAttention<shape, ladon::mask::Causal, ladon::layout::Int8<SeparateQKV>>>(19));
}

// 517 features have a group of 5 weights. 136 rows of 136 features are more than one part of expanded rows.
TEST_CASE("int4: encoder layers, any number of tokens, and rows longer than a part") {
  check_layer<S{.queries = 18, .model = 40, .heads = 4}, Model{.feed_forward = 517}, InProj>();
  check_layer<S{.queries = 35, .model = 136, .heads = 2}, Model{.feed_forward = 24}, InProj, true>();
  check_layer<S{.queries = 3, .model = 4, .heads = 1}, Model{.feed_forward = 5000}, InProj>();
}

// 70 tokens are a group of 64 tokens, which share each expansion of weights, and a rest.
TEST_CASE("int4: tokens of a feed-forward network share the expansion of its weights") {
  static constexpr S shape{.queries = 70, .model = 16, .heads = 2};
  static constexpr Model config{.feed_forward = 40};
  check_layer<shape, config, InProj>();
  const auto check = []<class Layout>(Layout, std::size_t tokens) {
    using Layer = ladon::EncoderLayer<config.with(shape), ladon::mask::Unmasked, Layout>;
    constexpr std::size_t width = ladon::detail::LayerPanels<Layer>::layout.width();
    CHECK(ladon::detail::feed_forward_plan<Layer>.panels * width == std::max(tokens, width));
  };
  using ladon::detail::target::Current;
  check(ladon::layout::Int4<InProj>{}, Current::int4_feed_forward_tokens);
  check(ladon::layout::Int8<InProj>{}, Current::int8_feed_forward_tokens);
}

// Random codes and numbers of tables.
TEST_CASE("int4: a row expands to the numbers of its tables") {
  constexpr std::size_t groups = 39, weights = groups * ladon::detail::int4_group - 5;
  std::vector<std::uint8_t> row(ladon::int4_row_bytes(weights));
  ProductRandom random(5);
  for (std::uint8_t& byte : row) byte = static_cast<std::uint8_t>(127.5f * (1 + random.number()));
  std::vector<std::int8_t> expanded(groups * ladon::detail::int4_group);
  ladon::detail::expand_int4_row(row.data(), weights, expanded.data());
  for (std::size_t i = 0; i < expanded.size(); ++i) {
    const std::size_t group = i / 32, code = row[group * 16 + i % 16] >> (i / 16 % 2 * 4) & 15;
    CHECK(expanded[i] == ladon::detail::int4_tables[ladon::detail::int4_table(row.data(), groups, group)][code]);
  }
}

// Rows of which four groups, or one group, are looked up at a time, rows that are read in several streams, whose last
// group has 8 weights, and rows with too many features for the stack.
TEST_CASE("int4: a single token") {
  check_layer<S{.queries = 1, .model = 37, .heads = 1}, Model{.feed_forward = 70}, InProj>();
  check_layer<S{.queries = 1, .model = 256, .heads = 2}, Model{.feed_forward = 384}, InProj>();
  check_layer<S{.queries = 1, .model = 136, .heads = 2}, Model{.feed_forward = 600}, InProj, true>();
  check_layer<S{.queries = 1, .model = 4, .heads = 1}, Model{.feed_forward = 8200}, InProj, false, 7>();
}

TEST_CASE("int4: a gate, 7 bits, plain arrays") {
  check_layer<S{.queries = 17, .model = 16, .heads = 4, .kv_heads = 2},
              Model{.feed_forward = 24, .activation = Activation::silu, .norm = NormOrder::pre, .gated = true},
              WithoutBias<SeparateQKV>, false, 7>();
  check_layer<S{.queries = 9, .model = 24, .heads = 3}, Model{.feed_forward = 40}, InProj, true, 8,
              ladon::detail::vec::ArrayVectors<1>>();
}

// Sixteen equal steps over the whole range would have an error of 0.17 * 1 / 15 * 2 / sqrt(12) / 0.58: 0.066 of uniform
// numbers. The bound allows for the table that is nearest to a group, and for levels of normal numbers.
TEST_CASE("int4: the error of uniform numbers") {
  constexpr std::size_t in = 70, bytes = ladon::int4_row_bytes(in);
  std::vector<float> weight(in);
  ProductRandom random(3);
  for (float& w : weight) w = random.number();
  std::array<std::uint8_t, bytes> codes{};
  std::array<float, 1> scale{};
  REQUIRE(ladon::quantise_int4(Linear<1, in, Order::out_in, Bias::without>{weight.data()}, codes, scale));
  std::array<std::int8_t, 96> expanded{};
  ladon::detail::expand_int4_row(codes.data(), in, expanded.data());
  double error = 0, squares = 0;
  for (std::size_t i = 0; i < in; ++i) {
    const double difference = static_cast<double>(expanded[i]) * double{scale[0]} - double{weight[i]};
    error += difference * difference;
    squares += double{weight[i]} * double{weight[i]};
  }
  CHECK(std::sqrt(error / squares) < 0.1);
}

TEST_CASE("int4: rows of zeros have the scale 0; infinite and NaN weights are refused, and nothing is written") {
  constexpr std::size_t in = 33, bytes = ladon::int4_row_bytes(in);
  std::array<float, in> weight{};
  std::array<std::uint8_t, bytes> codes{};
  std::array<float, 1> scale{1};
  CHECK(ladon::quantise_int4(Linear<1, in, Order::out_in, Bias::without>{weight.data()}, codes, scale));
  CHECK(scale[0] == 0);
  for (const float bad : {NAN, std::numeric_limits<float>::infinity()}) {
    weight[32] = bad;
    codes.fill(7);
    scale[0] = 1;
    CHECK(!ladon::quantise_int4(Linear<1, in, Order::out_in, Bias::without>{weight.data()}, codes, scale));
    CHECK(scale[0] == 1);
    CHECK(codes[0] == 7);
  }
}
