// Tests C kernels of decoders whose text grows by a few tokens per call: NAME_project_memory and NAME_extend. A kernel
// with float32 weights must agree with the oracle of the whole text, for every division of the text into calls. Kernels
// with other weights must give the bits of the C++ type with the same sizes and options.
#include <doctest/doctest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <vector>

#include "c_decoding.h"
#include "c_decoding_bfloat16.h"
#include "c_decoding_int8.h"
#include "decoder_kernel_subject.hpp"
#include "each_isa.hpp"
#include "models.hpp"
#include "random.hpp"
#include "team.hpp"

namespace ladon_test {

namespace {

using S = ladon::Shape;

constexpr std::size_t model = C_DECODING_MODEL, tokens = C_DECODING_KEYS, queries = C_DECODING_QUERIES,
                      memory_tokens = C_DECODING_MEMORY, heads = C_DECODING_HEADS, layers = C_DECODING_LAYERS;
constexpr std::size_t most_shares = 5;

template <std::size_t Bytes>
struct alignas(64) Memory {
  unsigned char bytes[Bytes];
};

// A text that the kernel c_decoding extends, and the memory of the text. `expected` holds the oracle's results for the
// whole text.
struct Text {
  Subject subject{};
  DecoderProblem problem;
  std::vector<std::uint8_t> may_see = std::vector<std::uint8_t>(memory_tokens);
  Task task;
  ExpectedDecoder expected;
  c_decoding_weights weights;
  c_decoding_options options{};  // the options of every call
  Memory<C_DECODING_CACHE_BYTES> cache;
  Memory<C_DECODING_MEMORY_CACHE_BYTES> memory_cache;
  Memory<C_DECODING_TEAM_WORKSPACE_BYTES(most_shares)> workspace;

  Text() {
    subject.shape = S{.queries = tokens, .keys = memory_tokens, .model = model, .heads = heads}.complete();
    subject.layout = WeightLayout::in_proj;
    subject.layers = 2 * layers;
    const DecoderForm form{
        .layers = layers, .layer = {.feed_forward = 20}, .self_causal = true, .memory_padding = true};
    problem = random_decoder(subject.shape, form, 3);
    for (std::size_t k = 0; k < memory_tokens; ++k) may_see[k] = k % 3 != 1;
    task = task_of(subject, problem, {}, may_see);
    expected = expected_decoder(subject, problem, {}, may_see);
    std::vector<const float*> pointers;
    for (const Floats& tensor : task.weights) pointers.push_back(tensor.data());
    weights = c_weights<c_decoding_weights>(pointers.data());
    options.memory.padding = may_see.data();
    std::memset(&memory_cache, 0x5a, sizeof(memory_cache));
  }
  ladon_status project() {
    return c_decoding_project_memory(problem.memory.data(), memory_cache.bytes, &weights, workspace.bytes, &options);
  }
};

// Returns the expected attention weights of a call that appends `count` tokens after `past` tokens. For each head,
// copies the rows of the appended tokens from `all` [heads][tokens][columns], the weights of the whole text. All other
// elements of the result are empty, because the kernel must not write them.
Expected map_of_call(const Expected& all, std::size_t past, std::size_t count, std::size_t columns) {
  Expected map(heads * queries * columns);
  for (std::size_t h = 0; h < heads; ++h) {
    const auto from = all.begin() + static_cast<std::ptrdiff_t>((h * tokens + past) * columns);
    std::copy_n(from, count * columns, map.begin() + static_cast<std::ptrdiff_t>(h * queries * columns));
  }
  return map;
}

// Extends the text by `count` tokens with `extend`, and compares y and the attention weights with the oracle. Returns
// y.
template <class Extend>
Floats check_piece(Text& text, std::size_t past, std::size_t count, Extend extend) {
  CAPTURE(past);
  CAPTURE(count);
  Floats y(count * model, poison());
  std::vector<Floats> maps;
  std::vector<float*> pointers;
  for (std::size_t i = 0; i < 2 * layers; ++i) {
    maps.emplace_back(heads * queries * (i % 2 == 0 ? tokens : memory_tokens), poison());
  }
  for (Floats& map : maps) pointers.push_back(map.data());
  c_decoding_options options = text.options;
  options.tokens = count;
  receive_maps(options, pointers.data());
  std::memset(&text.workspace, 0xff, sizeof(text.workspace));  // NaN
  REQUIRE(extend(text.problem.x.data() + past * model, y.data(), options) == LADON_OK);
  CHECK(c_decoding_cache_length(text.cache.bytes) == past + count);
  const auto first = text.expected.y.begin() + static_cast<std::ptrdiff_t>(past * model);
  CHECK(worst_distance(y, Expected(first, first + static_cast<std::ptrdiff_t>(count * model))) <= 1);
  for (std::size_t i = 0; i < 2 * layers; ++i) {
    const std::size_t columns = i % 2 == 0 ? tokens : memory_tokens;
    CHECK(worst_distance(maps[i], map_of_call(text.expected.maps[i], past, count, columns)) <= 1);
  }
  return y;
}

template <class Extend>
Floats check_cut(Text& text, const std::vector<std::size_t>& pieces, Extend extend) {
  REQUIRE(c_decoding_cache_clear(text.cache.bytes) == LADON_OK);
  Floats all;
  for (const std::size_t count : pieces) {
    const Floats y = check_piece(text, all.size() / model, count, extend);
    all.insert(all.end(), y.begin(), y.end());
  }
  return all;
}

ladon_status extend(Text& text, const float* x, float* y, const c_decoding_options& options) {
  return c_decoding_extend(x, text.cache.bytes, text.memory_cache.bytes, &text.weights, y, text.workspace.bytes,
                           &options);
}
template <std::size_t Shares>
ladon_status in_shares(Text& text, const float* x, float* y, const c_decoding_options& options) {
  ladon_status first_error = LADON_OK;
  InTurn<Shares>::drive(C_DECODING_PHASES, [&](std::size_t phase, ladon::Share share) {
    const ladon_status status =
        c_decoding_extend_phase(phase, share.index, share.count, x, text.cache.bytes, text.memory_cache.bytes,
                                &text.weights, y, text.workspace.bytes, &options);
    if (first_error == LADON_OK) first_error = status;
  });
  return first_error;
}

const std::vector<std::vector<std::size_t>> cuts{{4, 4, 4}, {3, 1, 4, 2, 2}, std::vector<std::size_t>(tokens, 1)};

void check_decoding(Text& text) {
  if (text.project() == LADON_UNSUPPORTED_ISA) return;
  REQUIRE(text.project() == LADON_OK);
  for (const auto& pieces : cuts) {
    const auto whole = [&](auto... call) { return extend(text, call...); };
    const auto one = [&](auto... call) { return in_shares<1>(text, call...); };
    const auto several = [&](auto... call) { return in_shares<2>(text, call...); };
    const auto many = [&](auto... call) { return in_shares<most_shares>(text, call...); };
    const Floats expected = check_cut(text, pieces, whole), by_one = check_cut(text, pieces, one);
    CHECK(same_bits(check_cut(text, pieces, several), by_one));
    CHECK(same_bits(check_cut(text, pieces, many), by_one));
    // For a single token, NAME_extend adds in another order than NAME_extend_phase, so the bits may differ. cuts[0] is
    // the only division of the text in which no call appends a single token. So the two functions must give equal bits
    // only for cuts[0].
    if (pieces == cuts[0]) CHECK(same_bits(expected, by_one));
  }
}

// Sets the pointers of the C++ weights `to` to the tensors of the C weights `from`.
void copy_pointers(const c_decoding_int8_attention_weights& from, auto& to) {
  to.in_proj = {from.in_proj_weight, from.in_proj_weight_scale, from.in_proj_weight_row_sum, {}};
  to.out_proj = {from.out_proj_weight, from.out_proj_weight_scale, from.out_proj_weight_row_sum, from.out_proj_bias};
}
void copy_pointers(const c_decoding_int8_layer_weights& from, auto& to) {
  copy_pointers(from.self_attention, to.self_attention);
  copy_pointers(from.cross_attention, to.cross_attention);
  to.gate = {from.gate_weight, from.gate_weight_scale, from.gate_weight_row_sum, from.gate_bias};
  to.linear1 = {from.linear1_weight, from.linear1_weight_scale, from.linear1_weight_row_sum, from.linear1_bias};
  to.linear2 = {from.linear2_weight, from.linear2_weight_scale, from.linear2_weight_row_sum, from.linear2_bias};
  to.norm1 = {from.norm1_weight, from.norm1_bias};
  to.norm2 = {from.norm2_weight, from.norm2_bias};
  to.norm3 = {from.norm3_weight, from.norm3_bias};
}

#if !LADON_DETERMINISTIC
const ladon::BFloat16* bfloat16(const std::uint16_t* numbers) {
  return reinterpret_cast<const ladon::BFloat16*>(numbers);
}
void copy_pointers(const c_decoding_bfloat16_attention_weights& from, auto& to) {
  to.in_proj = {bfloat16(from.in_proj_weight), {}};
  to.out_proj = {bfloat16(from.out_proj_weight), from.out_proj_bias};
}
void copy_pointers(const c_decoding_bfloat16_weights& from, auto& to) {
  copy_pointers(from.self_attention, to.self_attention);
  copy_pointers(from.cross_attention, to.cross_attention);
  to.linear1 = {bfloat16(from.linear1_weight), from.linear1_bias};
  to.linear2 = {bfloat16(from.linear2_weight), from.linear2_bias};
  to.norm1 = {from.norm1_weight, from.norm1_bias};
  to.norm2 = {from.norm2_weight, from.norm2_bias};
  to.norm3 = {from.norm3_weight, from.norm3_bias};
}

struct WithSinks : ladon::score::Scaled {
  static constexpr bool sinks = true;
};
#endif

}  // namespace

TEST_CASE("a decoder of a growing text, every instruction set, in calls and in phases") {
  static Text text;
  check_decoding(text);
  const auto with = [&](auto options) {
    if constexpr (requires { options.isa; }) {
      for_isas([&]<int Isa>() {
        CAPTURE(Isa);
        text.options.isa = static_cast<ladon_isa>(Isa);
        check_decoding(text);
      });
      text.options.isa = LADON_ISA_CHOSEN;
    }
  };
  with(text.options);
}

TEST_CASE("caches that another instruction set of the same kernel filled") {
  static Text text;
  const auto with = [&](auto options) {
    if constexpr (requires { options.isa; }) {
#if defined(__aarch64__)
      constexpr ladon_isa least = LADON_ISA_NEON, other = LADON_ISA_AVX2;  // a library for Arm lacks AVX2
#else
      constexpr ladon_isa least = LADON_ISA_SSE2, other = LADON_ISA_AVX2;
#endif
      Floats y(queries * model);
      const auto status_of = [&](ladon_isa isa) {
        options.tokens = 1;
        options.isa = isa;
        return extend(text, text.problem.x.data(), y.data(), options);
      };
      const auto refuses = [&] {
        const ladon_status status = status_of(other);
        return status == LADON_CACHE_NOT_CLEARED || status == LADON_UNSUPPORTED_ISA;
      };
      REQUIRE(c_decoding_cache_clear(text.cache.bytes) == LADON_OK);
      text.options.isa = least;
      REQUIRE(text.project() == LADON_OK);
      CHECK(refuses());  // `least` filled the cache of the memory
      CHECK(status_of(least) == LADON_OK);
      text.options.isa = other;
      if (text.project() == LADON_OK) CHECK(refuses());  // `least` filled the cache of the text
    }
  };
  with(text.options);
}

TEST_CASE("a decoder of a growing text returns a status for wrong arguments") {
  static Text text;
  Floats y(queries * model);
  c_decoding_options options = text.options;
  const auto run = [&] { return extend(text, text.problem.x.data(), y.data(), options); };
  CHECK(c_decoding_project_memory(nullptr, text.memory_cache.bytes, &text.weights, text.workspace.bytes, nullptr) ==
        LADON_NULL_INPUT);
  CHECK(c_decoding_project_memory(y.data(), nullptr, &text.weights, text.workspace.bytes, nullptr) ==
        LADON_NULL_WORKSPACE);
  CHECK(c_decoding_project_memory(y.data(), text.memory_cache.bytes + 4, &text.weights, text.workspace.bytes,
                                  nullptr) == LADON_MISALIGNED);
  CHECK(c_decoding_project_memory(reinterpret_cast<const float*>(text.workspace.bytes), text.memory_cache.bytes,
                                  &text.weights, text.workspace.bytes, nullptr) == LADON_OVERLAP);
  CHECK(c_decoding_project_memory(reinterpret_cast<const float*>(text.memory_cache.bytes), text.memory_cache.bytes,
                                  &text.weights, text.workspace.bytes, nullptr) == LADON_OVERLAP);
  REQUIRE(c_decoding_cache_clear(text.cache.bytes) == LADON_OK);
  CHECK(run() == LADON_CACHE_NOT_CLEARED);  // the memory is not projected
  REQUIRE(text.project() == LADON_OK);
  CHECK(run() == LADON_OK);
  // The kernel must reject wrong caches. The first call passes the cache of the memory for both parameters, and the
  // second call passes the cache of the text for both parameters.
  CHECK(c_decoding_extend(text.problem.x.data(), text.memory_cache.bytes, text.memory_cache.bytes, &text.weights,
                          y.data(), text.workspace.bytes, &options) == LADON_CACHE_NOT_CLEARED);
  CHECK(c_decoding_extend(text.problem.x.data(), text.cache.bytes, text.cache.bytes, &text.weights, y.data(),
                          text.workspace.bytes, &options) == LADON_CACHE_NOT_CLEARED);
  CHECK(c_decoding_extend(text.problem.x.data(), text.cache.bytes, nullptr, &text.weights, y.data(),
                          text.workspace.bytes, &options) == LADON_NULL_WORKSPACE);
  CHECK(c_decoding_extend(text.problem.x.data(), text.cache.bytes, text.memory_cache.bytes, &text.weights,
                          reinterpret_cast<float*>(text.memory_cache.bytes), text.workspace.bytes,
                          &options) == LADON_OVERLAP);
  options.memory.attention[0] = reinterpret_cast<float*>(text.memory_cache.bytes);
  CHECK(run() == LADON_OVERLAP);
  options = text.options;

  options.memory.keys = 6;
  REQUIRE(c_decoding_project_memory(text.problem.memory.data(), text.memory_cache.bytes, &text.weights,
                                    text.workspace.bytes, &options) == LADON_OK);
  options.memory.keys = 7;
  CHECK(run() == LADON_LENGTH_BEYOND_SHAPE);
  options.memory.keys = memory_tokens + 1;
  CHECK(run() == LADON_LENGTH_BEYOND_SHAPE);
  CHECK(c_decoding_project_memory(text.problem.memory.data(), text.memory_cache.bytes, &text.weights,
                                  text.workspace.bytes, &options) == LADON_LENGTH_BEYOND_SHAPE);
  options.memory.keys = 0;
  CHECK(run() == LADON_OK);
  CHECK(run() == LADON_OK);
  CHECK(c_decoding_cache_length(text.cache.bytes) == tokens);
  CHECK(run() == LADON_CACHE_FULL);
  CHECK(in_shares<2>(text, text.problem.x.data(), y.data(), options) == LADON_CACHE_FULL);
  CHECK(c_decoding_extend_phase(C_DECODING_PHASES, 0, 1, text.problem.x.data(), text.cache.bytes,
                                text.memory_cache.bytes, &text.weights, y.data(), text.workspace.bytes,
                                &options) == LADON_NO_SUCH_PHASE);
}

TEST_CASE("a decoder of a growing text with int8 weights that were quantised on the device") {
  constexpr S shape{.queries = 3, .keys = 11, .model = 16, .heads = 4, .kv_heads = 2};
  using Decoder =
      ladon::Decoder<stack_of(
                         ladon::Model{.feed_forward = 21, .activation = ladon::Activation::gelu_tanh, .gated = true},
                         shape, 2, ladon::FinalNorm::with, 9),
                     ladon::DecoderMasks<ladon::mask::Causal, ladon::mask::Boolean>,
                     ladon::layout::Int8<ladon::layout::WithoutProjectionBias<ladon::layout::InProj>>>;
  Random random(5);
  std::vector<Floats> tensors;
  const std::vector<std::size_t> sizes{32 * 16, 16 * 16, 16, 32 * 16, 16 * 16, 16, 21 * 16, 21, 21 * 16,
                                       21,      16 * 21, 16, 16,      16,      16, 16,      16, 16};
  for (int layer = 0; layer < 2; ++layer) {
    for (const std::size_t size : sizes) tensors.push_back(random.normals(size, 0.3));
  }
  for (int i = 0; i < 2; ++i) tensors.push_back(random.normals(16));
  std::vector<const float*> pointers;
  for (const Floats& tensor : tensors) pointers.push_back(tensor.data());
  c_decoding_int8_float_weights floats;
  REQUIRE(sizeof(floats) == pointers.size() * sizeof(const float*));
  std::memcpy(&floats, pointers.data(), sizeof(floats));
  static Memory<C_DECODING_INT8_QUANTISED_BYTES> quantised;
  c_decoding_int8_weights weights;
  REQUIRE(c_decoding_int8_quantise(&floats, &weights, quantised.bytes) == LADON_OK);
  const auto* const cross_sums = weights.layers[1].cross_attention.out_proj_weight_row_sum;
  CHECK(weights.layers[1].cross_attention.out_proj_bias == floats.layers[1].cross_attention.out_proj_bias);
  CHECK(reinterpret_cast<const unsigned char*>(cross_sums) < quantised.bytes + C_DECODING_INT8_QUANTISED_BYTES);
  const auto* const last = weights.layers[1].linear2_weight_row_sum;
  CHECK(reinterpret_cast<const unsigned char*>(last + 16) == quantised.bytes + C_DECODING_INT8_QUANTISED_BYTES);
  Decoder::Weights same;
  for (std::size_t i = 0; i < 2; ++i) copy_pointers(weights.layers[i], same.layers[i]);
  same.norm = {weights.norm_weight, weights.norm_bias};

  const Floats memory = random.normals(9 * 16);
  std::vector<std::uint8_t> pairs(3 * 9, 1);
  for (std::size_t i = 0; i < pairs.size(); i += 4) pairs[i] = 0;
  static Memory<C_DECODING_INT8_CACHE_BYTES> cache;
  static Memory<C_DECODING_INT8_MEMORY_CACHE_BYTES> memory_cache;
  static Memory<C_DECODING_INT8_WORKSPACE_BYTES> workspace;
  const auto caches = std::make_unique<Decoder::Caches>();
  const auto memory_caches = std::make_unique<Decoder::MemoryCaches>();
  const auto memory_workspace = std::make_unique<Decoder::MemoryWorkspace>();
  const auto same_workspace = std::make_unique<Decoder::CachedWorkspace>();
  c_decoding_int8_options options{};
  options.memory.keys = 8;
  REQUIRE(c_decoding_int8_cache_clear(cache.bytes) == LADON_OK);
  REQUIRE(c_decoding_int8_project_memory(memory.data(), memory_cache.bytes, &weights, workspace.bytes, &options) ==
          LADON_OK);
  Decoder::project_memory(memory.data(), same, *memory_caches, *memory_workspace, {.self = {}, .memory = {.keys = 8}});
  options.memory.boolean = pairs.data();
  Floats y(3 * 16), expected(3 * 16);
  for (const std::size_t count : {1u, 3u, 2u, 1u, 3u, 1u}) {
    const Floats x = random.normals(3 * 16);
    options.tokens = count;
    options.memory.keys = count == 2 ? 5 : 0;
    REQUIRE(c_decoding_int8_extend(x.data(), cache.bytes, memory_cache.bytes, &weights, y.data(), workspace.bytes,
                                   &options) == LADON_OK);
    Decoder::Options own{.self = {.tokens = count}, .memory = {.mask = {.may_see = pairs.data()}}};
    if (count == 2) own.memory.keys = 5;
    Decoder::extend(x.data(), *caches, *memory_caches, same, expected.data(), *same_workspace, own);
    CHECK(same_bits(y, expected));
  }
}

#if !LADON_DETERMINISTIC
TEST_CASE("a decoder layer of a text without end, with bfloat16 weights, rotary embedding, sinks and masked scores") {
  constexpr S shape{.queries = 3, .keys = 8, .model = 14, .heads = 2};
  using Layer = ladon::DecoderLayer<
      decoder_of(
          ladon::Model{.feed_forward = 15, .activation = ladon::Activation::gelu_tanh, .norm = ladon::NormOrder::pre},
          shape, 6),
      ladon::mask::Window<5, 0>, ladon::layout::BFloat16<ladon::layout::WithoutProjectionBias<ladon::layout::InProj>>,
      WithSinks, ladon::position::Rotary<ladon::Pairing::halves, 4, 40>>;
  Random random(6);
  std::vector<std::vector<std::uint16_t>> matrices;
  std::vector<Floats> vectors;
  const auto matrix = [&](std::size_t size) {
    matrices.emplace_back();
    for (const float value : random.normals(size, 0.3)) {
      std::uint32_t bits = 0;
      std::memcpy(&bits, &value, sizeof(bits));
      matrices.back().push_back(static_cast<std::uint16_t>(bits >> 16));
    }
    return matrices.back().data();
  };
  const auto vector = [&](std::size_t size) {
    vectors.push_back(random.normals(size, 0.3));
    return vectors.back().data();
  };
  const auto attention = [&] {
    return c_decoding_bfloat16_attention_weights{matrix(42 * 14), matrix(14 * 14), vector(14)};
  };
  c_decoding_bfloat16_weights weights;
  weights.self_attention = attention();
  weights.cross_attention = attention();
  weights.linear1_weight = matrix(15 * 14);
  weights.linear1_bias = vector(15);
  weights.linear2_weight = matrix(14 * 15);
  weights.linear2_bias = vector(14);
  for (const float** norm : {&weights.norm1_weight, &weights.norm1_bias, &weights.norm2_weight, &weights.norm2_bias,
                             &weights.norm3_weight, &weights.norm3_bias}) {
    *norm = vector(14);
  }
  Layer::Weights same;
  copy_pointers(weights, same);

  const auto same_table = ladon::rotary_table<40, 4>();
  static c_decoding_bfloat16_rotary_table table;
  REQUIRE(c_decoding_bfloat16_rotary_fill(&table, 10000, 1) == LADON_OK);
  const Floats memory = random.normals(6 * 14), sinks = random.normals(2), memory_sinks = random.normals(2);
  static Memory<C_DECODING_BFLOAT16_CACHE_BYTES> cache;
  static Memory<C_DECODING_BFLOAT16_MEMORY_CACHE_BYTES> memory_cache;
  static Memory<C_DECODING_BFLOAT16_WORKSPACE_BYTES> workspace;
  static Layer::Cache same_cache;
  static Layer::MemoryCache same_memory;
  static Layer::MemoryWorkspace memory_workspace;
  static Layer::CachedWorkspace same_workspace;
  Floats scores(2 * 3 * 8), memory_scores(2 * 3 * 6), expected_scores(2 * 3 * 8), expected_memory(2 * 3 * 6);
  REQUIRE(c_decoding_bfloat16_cache_clear(cache.bytes) == LADON_OK);
  REQUIRE(c_decoding_bfloat16_project_memory(memory.data(), memory_cache.bytes, &weights, workspace.bytes, nullptr) ==
          LADON_OK);
  Layer::project_memory(memory.data(), same, same_memory, memory_workspace);
  c_decoding_bfloat16_options options{};
  options.rotary = &table;
  options.sinks = sinks.data();
  options.attention = scores.data();
  options.memory.attention = memory_scores.data();
  Floats y(3 * 14), expected(3 * 14);
  const auto extend = [&](const Floats& x) {
    return c_decoding_bfloat16_extend(x.data(), cache.bytes, memory_cache.bytes, &weights, y.data(), workspace.bytes,
                                      &options);
  };
  CHECK(extend(y) == LADON_NULL_OPTION);  // the attention to the memory needs sinks, too
  options.memory.sinks = memory_sinks.data();
  std::size_t length = 0;
  while (length + 3 <= 40) {
    const std::size_t count = length % 4 == 0 ? 1 : length % 4 == 1 ? 3 : 2;
    const Floats x = random.normals(3 * 14);
    options.tokens = count;
    REQUIRE(extend(x) == LADON_OK);
    Layer::extend(x.data(), same_cache, same_memory, same, expected.data(), same_workspace,
                  {.self = {.tokens = count, .sinks = sinks.data(), .position = {.table = &same_table}},
                   .memory = {.sinks = memory_sinks.data()}},
                  ladon::DecoderCaptures<ladon::Stage::masked>{{expected_scores.data()}, {expected_memory.data()}});
    length += count;
    CHECK(same_bits(y, expected));
    CHECK(same_bits(scores, expected_scores));
    CHECK(same_bits(memory_scores, expected_memory));
  }
  options.tokens = 3;
  CHECK(c_decoding_bfloat16_cache_length(cache.bytes) == length);
  CHECK(extend(y) == LADON_LENGTH_BEYOND_SHAPE);  // the rotary table has 40 positions
}
#endif

}  // namespace ladon_test
