// Tests attention in constant evaluation. The numbers are small enough to verify by hand:
// Three tokens (x0, x1) = (0, 21), (1, 0), (2, 42); two heads of width 1, so the scale is 1.
//   head 0: q = ln 2 (the bias), k = x0, v = x1: the weight of key j is proportional to e^(x0 ln 2) = 2^x0 = 1, 2, 4
//   head 1: q = 0, v = x0: all visible keys have equal weights
//   y = (head 0 + 1/2, 2 head 1 - 1)
// Causal:   token 0 sees one key:   head 0 = 21                                 head 1 = 0      y = (21.5, -1)
//           token 1:                head 0 = (1 * 21 + 2 * 0) / 3 = 7           head 1 = 1/2    y = (7.5, 0)
//           token 2:                head 0 = (1 * 21 + 2 * 0 + 4 * 42) / 7 = 27 head 1 = 1      y = (27.5, 1)
// The padding mask hides key 0:
//           token 0 sees no key:    heads = 0                                                   y = (0.5, -1)
//           token 1 sees key 1:     head 0 = 0                                  head 1 = 1      y = (0.5, 1)
//           token 2 sees 1 and 2:   head 0 = (2 * 0 + 4 * 42) / 6 = 28          head 1 = 3/2    y = (28.5, 2)
#include <array>
#include <bit>
#include <cstdint>

#include <doctest/doctest.h>

#include <ladon/ladon.hpp>

namespace {

using Mask = decltype(ladon::mask::Causal{} & ladon::mask::Padding{});
using Attention = ladon::MultiHeadAttention<ladon::Shape{.queries = 3, .model = 2, .heads = 2}, Mask>;

constexpr float ln_2 = 0.693147181f;
constexpr float x[] = {0, 21, 1, 0, 2, 42};
constexpr float in_proj_weight[] = {0, 0, 0, 0, 1, 0, 1, 1, 0, 1, 1, 0};  // rows: q of both heads, then k, then v
constexpr float in_proj_bias[] = {ln_2, 0, 0, 0, 0, 0};
constexpr float out_proj_weight[] = {1, 0, 0, 2};
constexpr float out_proj_bias[] = {0.5f, -1};
constexpr Attention::Weights weights{.in_proj = {in_proj_weight, in_proj_bias},
                                     .out_proj = {out_proj_weight, out_proj_bias}};
constexpr std::uint8_t all_but_first[] = {0, 1, 1};

struct Result {
  std::array<float, 6> y{};
  std::array<float, 2 * 3 * 3> map{};
};

constexpr Result attend(const std::uint8_t* may_see) {
  Attention::Workspace workspace{};
  Result result;
  const Attention::Options options{.mask = {.first = {}, .second = {.may_see = may_see}}};
  Attention::run(x, weights, result.y, workspace, options, result.map);
  return result;
}

template <std::size_t N>
constexpr bool close(const std::array<float, N>& actual, const std::array<float, N>& expected) {
  for (std::size_t i = 0; i < N; ++i) {
    const float off = actual[i] - expected[i], magnitude = expected[i] < 0 ? -expected[i] : expected[i];
    if (!(off <= 1e-6f * (1 + magnitude) && -off <= 1e-6f * (1 + magnitude))) return false;
  }
  return true;
}

constexpr Result seen = attend(nullptr);
static_assert(close(seen.y, {21.5f, -1, 7.5f, 0, 27.5f, 1}));
static_assert(close(seen.map, {1, 0, 0, 1.0f / 3, 2.0f / 3, 0, 1.0f / 7, 2.0f / 7, 4.0f / 7,  //
                               1, 0, 0, 1.0f / 2, 1.0f / 2, 0, 1.0f / 3, 1.0f / 3, 1.0f / 3}));

constexpr Result hidden = attend(all_but_first);
static_assert(close(hidden.y, {0.5f, -1, 0.5f, 1, 28.5f, 2}));
static_assert(close(hidden.map, {0, 0, 0, 0, 1, 0, 0, 1.0f / 3, 2.0f / 3,  //
                                 0, 0, 0, 0, 1, 0, 0, 1.0f / 2, 1.0f / 2}));

// Computes attention in parts, as several threads would: a call has several phases, and each phase is divided
// into `count` shares.
constexpr Result attend_in_shares(std::size_t count) {
  auto workspace = Attention::TeamWorkspace<3>{};
  Result result;
  for (std::size_t phase = 0; phase < Attention::phases; ++phase) {
    for (std::size_t i = 0; i < count; ++i) {
      Attention::run(x, weights, result.y, workspace.part(phase, {i, count}), {}, result.map);
    }
  }
  return result;
}
static_assert(attend_in_shares(2).y == seen.y && attend_in_shares(3).map == seen.map);

// An encoder layer. The attention has zero weights, so it adds 0. LayerNorm of two features gives 1 for the larger
// feature and -1 for the other:
//   x = (3, 1)                   norm1 gives (1, -1) * 1 + 2 = (3, 1)
//   hidden = relu(x + (-4, 1))   = (0, 2)
//   x + (3 * hidden[1], 0)       = (9, 1), and norm2 gives (1, -1) * (10, 20) + 1 = (11, -19)
// Large and small tokens give the same norm if epsilon is 0.
template <std::size_t Tokens>
constexpr std::array<float, 2 * Tokens> encode(float first, float second, float epsilon = 1e-12f) {
  using Layer = ladon::EncoderLayer<ladon::Model{.tokens = Tokens, .model = 2, .heads = 1, .feed_forward = 2}>;
  constexpr float none[12] = {}, one[2] = {1, 1}, two[2] = {2, 2}, gain[2] = {10, 20};
  constexpr float identity[4] = {1, 0, 0, 1}, shift[2] = {-4, 1}, second_to_first[4] = {0, 3, 0, 0};
  const float* const zeros = none;
  const typename Layer::Weights layer{.attention = {.in_proj = {zeros, zeros}, .out_proj = {zeros, zeros}},
                                      .linear1 = {identity, shift},
                                      .linear2 = {second_to_first, zeros},
                                      .norm1 = {one, two, epsilon},
                                      .norm2 = {gain, one, epsilon}};
  typename Layer::Workspace workspace{};
  std::array<float, 2 * Tokens> token{}, y{};
  for (std::size_t t = 0; t < Tokens; ++t) {
    token[2 * t] = first;
    token[2 * t + 1] = second;
  }
  Layer::run(token, layer, y, workspace);
  return y;
}
static_assert(close(encode<1>(3, 1), {11, -19}));
static_assert(close(encode<1>(3e38f, -3e38f, 0), {11, -19}));
static_assert(close(encode<1>(1e-45f, -1e-45f, 0), {11, -19}));
static_assert(close(encode<2>(3e38f, -3e38f, 0), {11, -19, 11, -19}));
static_assert(close(encode<2>(3e-30f, 1e-30f, 0), {11, -19, 11, -19}));

// A layer with norms before and after its sublayers. All matrices are 0, so a sublayer gives its bias. RMSNorm divides
// (1, -1) by 1, and (-2, 2) by 2:
//   x = (10, 20), attention gives (1, -1) * (1 + 1, 1 + 0) = (2, -1)
//   x + (2, -1) * (0.5, 2) / 2 = (10.5, 19), and the network gives (-1, 1)
//   x + (-1, 1) * (2, 4) / 2   = (9.5, 21)
constexpr std::array<float, 2> encode_with_all_norms() {
  using Layer = ladon::EncoderLayer<ladon::Model{.tokens = 1,
                                                 .model = 2,
                                                 .heads = 1,
                                                 .feed_forward = 2,
                                                 .norm = ladon::NormOrder::both,
                                                 .residual_scale = 0.5f,
                                                 .layer_scale = true,
                                                 .norm_kind = ladon::NormKind::rms,
                                                 .norm_gain = ladon::NormGain::one_plus_weight}>;
  constexpr float token[2] = {10, 20}, none[12] = {}, of_attention[2] = {1, -1}, of_network[2] = {-2, 2};
  constexpr float gain[2] = {1, 0}, scale1[2] = {0.5f, 2}, scale2[2] = {2, 4};
  const float* const zeros = none;
  const Layer::Weights layer{.attention = {.in_proj = {zeros, zeros}, .out_proj = {zeros, of_attention}},
                             .linear1 = {zeros, zeros},
                             .linear2 = {zeros, of_network},
                             .norm1 = {zeros},
                             .norm2 = {zeros},
                             .output_norm1 = {gain, {}, 0},
                             .output_norm2 = {zeros, {}, 0},
                             .scale1 = scale1,
                             .scale2 = scale2};
  Layer::Workspace workspace{};
  std::array<float, 2> y{};
  Layer::run(token, layer, y, workspace);
  return y;
}
static_assert(close(encode_with_all_norms(), {9.5f, 21}));

// Attention with sinks. The sink of head 0 equals the only score of head 0, so the sink gets half of the weight. The
// sink of head 1 is so low that it gets no weight.
struct WithSinks : ladon::score::Scaled {
  static constexpr bool sinks = true;
};
constexpr std::array<float, 2> attend_with_sinks() {
  using AttentionWithSinks =
      ladon::Attention<ladon::Shape{.queries = 1, .model = 2, .heads = 2}, ladon::mask::Causal, WithSinks>;
  constexpr float q[2] = {1, 1}, k[2] = {3, 3}, v[2] = {8, 8}, sinks[2] = {3, -1e30f};
  AttentionWithSinks::Workspace workspace{};
  std::array<float, 2> out{};
  AttentionWithSinks::Options options;
  options.sinks = sinks;
  AttentionWithSinks::run(q, k, v, out, workspace, options);
  return out;
}
static_assert(close(attend_with_sinks(), {4, 8}));

// A number for each distance: the weight of a neighbouring token is twice that of the token itself. The scores are 0
// otherwise, so the outputs are (0 + 2 * 3) / 3 and (2 * 0 + 3) / 3.
constexpr std::array<float, 2> attend_with_distances() {
  using Neighbours = ladon::Attention<ladon::Shape{.queries = 2, .model = 1, .heads = 1}, ladon::mask::Relative>;
  constexpr float q[2] = {}, k[2] = {5, 7}, v[2] = {0, 3};
  ladon::RelativeTable<1, 2> table;
  for (const int distance : {-1, 1}) table.set(0, distance, ln_2);
  Neighbours::Workspace workspace{};
  std::array<float, 2> out{};
  Neighbours::run(q, k, v, out, workspace, {.mask = {.table = &table}});
  return out;
}
static_assert(close(attend_with_distances(), {2, 1}));

// A decoder layer whose two attentions add 0, so norm1 and norm2 give (3, 1). norm3 follows the feed-forward network,
// as norm2 of `Layer` does. So the result is also (11, -19).
using Decoder = ladon::DecoderLayer<ladon::Model{.tokens = 1, .memory = 2, .model = 2, .heads = 1, .feed_forward = 2}>;

constexpr std::array<float, 2> decode() {
  constexpr float token[2] = {3, 1}, memory[4] = {1, 2, 3, 4};
  constexpr float none[12] = {}, one[2] = {1, 1}, two[2] = {2, 2}, gain[2] = {10, 20};
  constexpr float identity[4] = {1, 0, 0, 1}, shift[2] = {-4, 1}, second_to_first[4] = {0, 3, 0, 0};
  const float* const zeros = none;
  const Decoder::Weights layer{.self_attention = {.in_proj = {zeros, zeros}, .out_proj = {zeros, zeros}},
                               .cross_attention = {.in_proj = {zeros, zeros}, .out_proj = {zeros, zeros}},
                               .linear1 = {identity, shift},
                               .linear2 = {second_to_first, zeros},
                               .norm1 = {one, two, 1e-12f},
                               .norm2 = {one, two, 1e-12f},
                               .norm3 = {gain, one, 1e-12f}};
  Decoder::Workspace workspace{};
  std::array<float, 2> y{};
  Decoder::run(token, memory, layer, y, workspace);
  return y;
}
static_assert(close(decode(), {11, -19}));

#if !LADON_DETERMINISTIC
// Computes the causal attention of the example at the top, but with bfloat16 weights. All weights, inputs and outputs
// of the heads are exact as bfloat16. So rounding to bfloat16 does not change y. Only plain arrays multiply bfloat16
// numbers on every target.
using NativeVectors = ladon::detail::vec::NativeVectors;
template <bool MultipliesBFloat16>
struct BFloat16Target : std::conditional_t<MultipliesBFloat16 && !NativeVectors::multiplies_bfloat16,
                                           ladon::detail::vec::ArrayVectors<4>, NativeVectors> {
  static constexpr bool multiplies_bfloat16 = MultipliesBFloat16;
};
template <bool MultipliesBFloat16>
constexpr std::array<float, 6> attend_bfloat16() {
  using BFloat16Attention =
      ladon::MultiHeadAttention<ladon::Shape{.queries = 3, .model = 2, .heads = 2}, ladon::mask::Causal,
                                ladon::layout::BFloat16<ladon::layout::InProj>, ladon::score::Scaled,
                                ladon::position::Unrotated, BFloat16Target<MultipliesBFloat16>>;
  std::array<ladon::BFloat16, 12> in{};
  std::array<ladon::BFloat16, 4> out{};
  for (std::size_t i = 0; i < in.size(); ++i) in[i] = ladon::to_bfloat16(in_proj_weight[i]);
  for (std::size_t i = 0; i < out.size(); ++i) out[i] = ladon::to_bfloat16(out_proj_weight[i]);
  const typename BFloat16Attention::Weights bfloat16_weights{.in_proj = {in, in_proj_bias},
                                                             .out_proj = {out, out_proj_bias}};
  typename BFloat16Attention::Workspace workspace{};
  std::array<float, 6> y{};
  BFloat16Attention::run(x, bfloat16_weights, y, workspace);
  return y;
}
static_assert(close(attend_bfloat16<false>(), {21.5f, -1, 7.5f, 0, 27.5f, 1}));
static_assert(close(attend_bfloat16<true>(), {21.5f, -1, 7.5f, 0, 27.5f, 1}));
#endif

// Attention with int8 weights. The largest feature of a token is quantised to 255, with the scale x / 255. The token
// here has the single feature x = 255, so the scale is 1, and all computations are exact. The value projection gives 2
// x + 1 = 511.
using Int8Attention = ladon::MultiHeadAttention<ladon::Shape{.queries = 1, .model = 1, .heads = 1},
                                                ladon::mask::Unmasked, ladon::layout::Int8<ladon::layout::InProj>>;
constexpr float attend_int8(float x_of_token) {
  constexpr std::int8_t in_proj[] = {0, 0, 2}, out_proj[] = {1};
  constexpr float ones[] = {1, 1, 1}, one[] = {1}, in_bias[] = {0, 0, 1}, out_bias[] = {0};
  constexpr std::int32_t in_sums[] = {0, 0, 2}, out_sums[] = {1};
  const Int8Attention::Weights int8_weights{.in_proj = {in_proj, ones, in_sums, in_bias},
                                            .out_proj = {out_proj, one, out_sums, out_bias}};
  Int8Attention::Workspace workspace{};
  const float token[] = {x_of_token};
  float y[1] = {};
  Int8Attention::run(token, int8_weights, y, workspace);
  return y[0];
}
static_assert(attend_int8(255) == 511);

// Two tokens of one feature, which RMSNorm turns into a sign: q = k = x / |x|, and v = x.
constexpr std::array<float, 2> norms_of_two_tokens() {
  using Normed = ladon::MultiHeadAttention<ladon::Model{.tokens = 2,
                                                        .model = 1,
                                                        .heads = 1,
                                                        .query_key_norm = {ladon::HeadNorm::all},
                                                        .projection_bias = ladon::Bias::without,
                                                        .output_bias = ladon::Bias::without}>;
  constexpr float in[]{1, 1, 1}, one[]{1}, log_2[]{0.693147181f}, of_tokens[]{-3, 6};
  Normed::Workspace workspace{};
  std::array<float, 2> y{};
  Normed::run(of_tokens, {.in_proj = {in}, .out_proj = {one}, .query_norm = {log_2}, .key_norm = {one}}, y, workspace);
  return y;
}
// The weights of token 0 are 4/5 and 1/5, and of token 1 1/5 and 4/5.
static_assert([](const std::array<float, 2>& y) {
  return y[0] + 1.2f < 1e-4f && y[0] + 1.2f > -1e-4f && y[1] - 4.2f < 1e-4f && y[1] - 4.2f > -1e-4f;
}(norms_of_two_tokens()));

}  // namespace

TEST_CASE("int8: the compiler and the program compute the same number") { CHECK(attend_int8(255) == 511); }

// With relaxed SIMD, the engine chooses one or two roundings of an fma.
#if defined(__wasm_relaxed_simd__) && !LADON_DETERMINISTIC
constexpr bool equal_bits = false;
#else
constexpr bool equal_bits = true;
#endif

TEST_CASE("constant evaluation and the program give equal bits") {
  for (const auto& [expected, may_see] :
       {std::pair{&seen, static_cast<const std::uint8_t*>(nullptr)}, std::pair{&hidden, &all_but_first[0]}}) {
    const Result result = attend(may_see);
    if (!equal_bits) {
      CHECK(close(result.y, expected->y));
      CHECK(close(result.map, expected->map));
      continue;
    }
    CHECK(std::bit_cast<std::array<std::uint32_t, 6>>(result.y) ==
          std::bit_cast<std::array<std::uint32_t, 6>>(expected->y));
    CHECK(std::bit_cast<std::array<std::uint32_t, 18>>(result.map) ==
          std::bit_cast<std::array<std::uint32_t, 18>>(expected->map));
  }
}

TEST_CASE("constexpr: int4 weights") {
  constexpr std::size_t bytes = ladon::int4_row_bytes(40);
  static_assert(bytes == 2 * 16 + 1);
  struct Quantised {
    std::array<std::uint8_t, 2 * bytes> weight{};
    std::array<float, 2> scale{};
    std::array<std::int32_t, 2> row_sum{};
    std::array<float, 2> y{};
  };
  // Quantises a linear map, and multiplies by a token.
  const auto product = [] {
    std::array<float, 2 * 40> weight{};
    for (std::size_t i = 0; i < weight.size(); ++i) weight[i] = static_cast<float>(i % 7) - 3;
    std::array<float, 40> token{};
    for (std::size_t i = 0; i < token.size(); ++i) token[i] = static_cast<float>(i % 5) - 1;
    using Precision = ladon::precision::Int4<8>;
    Quantised q;
    ladon::quantise_int4(ladon::Linear<2, 40, ladon::Order::out_in, ladon::Bias::without>{weight.data()}, q.weight,
                         q.scale);
    ladon::int4_row_sums<2, 40>(q.weight, q.row_sum);
    const ladon::Linear<2, 40, ladon::Order::out_in, ladon::Bias::without, Precision> linear{q.weight, q.scale,
                                                                                             q.row_sum};
    using Rows = ladon::LinearRows<1, 2, 40, ladon::Order::out_in, ladon::Bias::without, Precision>;
    typename Rows::Workspace workspace{};
    Rows::run(token.data(), linear, q.y.data(), workspace);
    return q;
  };
  constexpr Quantised constant = product();
  const Quantised computed = product();
  CHECK(computed.weight == constant.weight);
  CHECK(computed.scale == constant.scale);
  CHECK(computed.row_sum == constant.row_sum);
  CHECK(computed.y == constant.y);
}
