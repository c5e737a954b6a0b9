// Tests kernels with int8 weights against the oracle, and against the C++ types with the same sizes. NAME_quantise must
// write the weights that ladon::quantise writes, or return an error status.
#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <vector>

#include "attention_check.hpp"
#include "c_int8.h"
#include "c_int8_grown.h"
#include "c_int8_layer.h"
#include "c_int8_rotated.h"
#include "c_subject.hpp"
#include "each_isa.hpp"
#include "encoder_check.hpp"
#include "preferred_isa.hpp"
#include "random.hpp"
#include "weight_views.hpp"

namespace ladon_test {

namespace {

using S = ladon::Shape;

// Changes `weight`, which c_weights has set to the beginning of an array of floats. The last `count` bytes of this
// array are int8 elements (elements_at in weight_views.hpp). After the call, `weight` points to the first of these
// elements.
void place(const std::int8_t*& weight, std::size_t count) {
  weight = elements_at<std::int8_t>(reinterpret_cast<const float*>(weight), count);
}
void place(c_int8_weights& weights) {
  place(weights.query_proj_weight, 4 * 5 * 13);
  place(weights.key_proj_weight, 2 * 5 * 13);
  place(weights.value_proj_weight, 2 * 7 * 13);
  place(weights.out_proj_weight, 13 * 4 * 7);
}
void place(c_int8_layer_weights& weights) {
  place(weights.attention.in_proj_weight, 36 * 12);
  place(weights.attention.out_proj_weight, 12 * 12);
  place(weights.gate_weight, 21 * 12);
  place(weights.linear1_weight, 21 * 12);
  place(weights.linear2_weight, 12 * 21);
}
void place(c_int8_rotated_weights& weights) {
  place(weights.attention.in_proj_weight, 48 * 16);
  place(weights.attention.out_proj_weight, 16 * 16);
  place(weights.linear1_weight, 24 * 16);
  place(weights.linear2_weight, 16 * 24);
}
template <class W, class O, auto Run>
ladon_status placed(const float* x, const W* given, float* y, void* workspace, const O* options) {
  if (given == nullptr) return Run(x, given, y, workspace, options);
  W weights = *given;
  place(weights);
  return Run(x, &weights, y, workspace, options);
}

template <std::size_t Bytes>
struct alignas(64) Memory {
  unsigned char bytes[Bytes];
};

template <class T>
bool filled(const T& object, unsigned char byte) {
  std::array<unsigned char, sizeof(T)> bytes{};
  std::memcpy(bytes.data(), &object, sizeof(T));
  return std::ranges::all_of(bytes, [&](unsigned char each) { return each == byte; });
}

// The float weights of a kernel, with random numbers.
template <class F>
struct Floating {
  std::vector<Floats> tensors;
  F weights{};

  Floating(Random& random, const std::vector<std::size_t>& sizes) {
    REQUIRE(sizeof(F) == sizes.size() * sizeof(const float*));
    std::vector<const float*> pointers;
    for (const std::size_t size : sizes) tensors.push_back(random.normals(size, 0.3));
    for (const Floats& tensor : tensors) pointers.push_back(tensor.data());
    std::memcpy(&weights, pointers.data(), sizeof(weights));
  }
};

// The sizes of the float tensors of c_int8_grown and of c_int8_layer. c_int8_grown has no bias of out_proj.
const std::vector<std::size_t> grown_sizes{48 * 16, 48, 16 * 16};
const std::vector<std::size_t> layer_sizes{36 * 12, 36,      12 * 12, 12, 21 * 12, 21, 21 * 12,
                                           21,      12 * 21, 12,      12, 12,      12, 12};

}  // namespace

TEST_CASE("int8: attention, activations of 7 bits") {
  constexpr S shape{.queries = 19, .model = 13, .heads = 4, .kv_heads = 2, .head_width = 5, .value_width = 7};
  each_isa<shape, C_INT8_WORKSPACE_BYTES, c_int8_weights, c_int8_options,
           placed<c_int8_weights, c_int8_options, c_int8_run_with>>(1, [](Subject subject) {
    subject.mask = {.causal = true};
    subject.layout = WeightLayout::separate;
    subject.activation_bits = 7;
    subject.in_pairs = ladon::detail::vec::NativeVectors::attends_in_pairs;
    check_self(subject);
  });
}

TEST_CASE("int8, every instruction set: an encoder layer with a gate") {
  constexpr S shape{.queries = 17, .model = 12, .heads = 3};
  using W = c_int8_layer_weights;
  using O = c_int8_layer_options;
  constexpr auto run = placed<W, O, c_int8_layer_run_with>;
  each_isa<shape, C_INT8_LAYER_WORKSPACE_BYTES, W, O, run>(1, [](Subject subject, int isa) {
    subject.mask = {.padding = true};
    subject.in_pairs = ladon::detail::vec::NativeVectors::attends_in_pairs;
    if constexpr (requires(O options) { options.isa; }) {
      subject.in_pairs = calls_preferred<run, W, O, LADON_ISA_AVX512_BF16>(isa);
    }
    check_encoder(subject, {.layer = {.feed_forward = 21, .gated = true}, .activation_bits = 8});
  });
}

TEST_CASE("int8, rotated: an encoder layer, and weights that were quantised on the device") {
  constexpr S shape{.queries = 19, .model = 16, .heads = 2};
  each_isa<shape, C_INT8_ROTATED_WORKSPACE_BYTES, c_int8_rotated_weights, c_int8_rotated_options,
           placed<c_int8_rotated_weights, c_int8_rotated_options, c_int8_rotated_run_with>>(1, [](Subject subject) {
    subject.mask = {.padding = true};
    subject.in_pairs = ladon::detail::vec::NativeVectors::attends_in_pairs;
    check_encoder(subject, {.layer = {.feed_forward = 24}, .activation_bits = 8 + rotated});
  });

  Random random(15);
  const Floating<c_int8_rotated_float_weights> floats(
      random, {48 * 16, 48, 16 * 16, 16, 24 * 16, 24, 16 * 24, 16, 16, 16, 16, 16});
  static Memory<C_INT8_ROTATED_QUANTISED_BYTES> memory;
  c_int8_rotated_weights weights;
  REQUIRE(c_int8_rotated_quantise(&floats.weights, &weights, memory.bytes) == LADON_OK);
  std::array<std::int8_t, 16 * 24> integers{};
  std::array<float, 16> scale{};
  std::array<std::int32_t, 16> sums{};
  const ladon::Linear<16, 24> linear2{floats.weights.linear2_weight, floats.weights.linear2_bias};
  REQUIRE(ladon::quantise_rotated(linear2, integers, scale));
  ladon::row_sums<16, 24>(integers, sums);
  CHECK(std::memcmp(weights.linear2_weight, integers.data(), sizeof(integers)) == 0);
  CHECK(std::memcmp(weights.linear2_weight_scale, scale.data(), sizeof(scale)) == 0);
  CHECK(std::memcmp(weights.linear2_weight_row_sum, sums.data(), sizeof(sums)) == 0);

  c_int8_rotated_float_weights infinite = floats.weights;
  std::array<float, 24 * 16> largest{};
  largest[0] = largest[1] = std::numeric_limits<float>::max();
  infinite.linear1_weight = largest.data();
  CHECK(c_int8_rotated_quantise(&infinite, &weights, memory.bytes) == LADON_NOT_FINITE);
}

// Products of int8 weights are sums of integers, so these products must be equal with and without VNNI. (The code
// without VNNI must not add in 16 bits, because such sums would saturate for activations of 8 bits.) The code for
// AVX-512 and the code for AVX-512 VNNI compute everything else with the same instructions.
TEST_CASE("int8: AVX-512 gives equal bits with and without VNNI") {
  Random random(12);
  const Floating<c_int8_layer_float_weights> floats(random, layer_sizes);
  static Memory<C_INT8_LAYER_QUANTISED_BYTES> memory;
  static Memory<C_INT8_LAYER_WORKSPACE_BYTES> workspace;
  c_int8_layer_weights weights;
  REQUIRE(c_int8_layer_quantise(&floats.weights, &weights, memory.bytes) == LADON_OK);
  const Floats x = random.normals(C_INT8_LAYER_QUERIES * C_INT8_LAYER_MODEL);
  Floats with_vnni(x.size()), without_vnni(x.size());
  const auto check = [&](auto options) {
    if constexpr (requires { options.isa; }) {
      options.isa = LADON_ISA_AVX512_VNNI;
      if (c_int8_layer_run_with(x.data(), &weights, with_vnni.data(), workspace.bytes, &options) != LADON_OK) return;
      options.isa = LADON_ISA_AVX512;
      CHECK(c_int8_layer_run_with(x.data(), &weights, without_vnni.data(), workspace.bytes, &options) == LADON_OK);
      CHECK(same_bits(with_vnni, without_vnni));
    }
  };
  check(c_int8_layer_options{});
}

TEST_CASE("int8: a growing text, with weights that were quantised on the device") {
  using Grown = ladon::MultiHeadAttention<S{.queries = 4, .keys = 12, .model = 16, .heads = 2}, ladon::mask::Causal,
                                          ladon::layout::Int8<ladon::layout::WithoutOutputBias<ladon::layout::InProj>>>;
  Random random(13);
  const Floating<c_int8_grown_float_weights> floats(random, grown_sizes);
  static Memory<C_INT8_GROWN_QUANTISED_BYTES> memory;
  c_int8_grown_weights weights;
  REQUIRE(c_int8_grown_quantise(&floats.weights, &weights, memory.bytes) == LADON_OK);

  // Computes the weights that c_int8_grown_quantise should have made. The C++ functions below quantise the same float
  // weights.
  std::vector<std::int8_t> in_proj(48 * 16), out_proj(16 * 16);
  std::vector<std::int32_t> in_sums(48), out_sums(16);
  Floats in_scale(48), out_scale(16);
  const ladon::Linear<48, 16> float_in_proj{floats.weights.in_proj_weight, floats.weights.in_proj_bias};
  const ladon::Linear<16, 16, ladon::Order::out_in, ladon::Bias::without> float_out_proj{
      floats.weights.out_proj_weight};
  REQUIRE(ladon::quantise(float_in_proj, in_proj.data(), in_scale.data()));
  REQUIRE(ladon::quantise(float_out_proj, out_proj.data(), out_scale.data()));
  ladon::row_sums<48, 16>(in_proj.data(), in_sums.data());
  ladon::row_sums<16, 16>(out_proj.data(), out_sums.data());
  const auto same = [](const auto* made, const auto& expected) {
    return reinterpret_cast<std::uintptr_t>(made) % 64 == 0 &&
           std::memcmp(made, expected.data(), expected.size() * sizeof(expected[0])) == 0;
  };
  CHECK(same(weights.in_proj_weight, in_proj));
  CHECK(same(weights.in_proj_weight_scale, in_scale));
  CHECK(same(weights.in_proj_weight_row_sum, in_sums));
  CHECK(same(weights.out_proj_weight, out_proj));
  CHECK(same(weights.out_proj_weight_scale, out_scale));
  CHECK(same(weights.out_proj_weight_row_sum, out_sums));
  CHECK(weights.in_proj_bias == floats.weights.in_proj_bias);
  // The last tensor ends exactly C_INT8_GROWN_QUANTISED_BYTES bytes after the beginning of `memory`. So the header does
  // not request more memory than needed.
  CHECK(reinterpret_cast<const unsigned char*>(weights.out_proj_weight_row_sum + 16) ==
        memory.bytes + C_INT8_GROWN_QUANTISED_BYTES);

  const Grown::Weights views{.in_proj = {in_proj.data(), in_scale.data(), in_sums.data(), floats.weights.in_proj_bias},
                             .out_proj = {out_proj.data(), out_scale.data(), out_sums.data(), {}}};
  static Memory<C_INT8_GROWN_CACHE_BYTES> cache;
  static Memory<C_INT8_GROWN_WORKSPACE_BYTES> workspace;
  static Grown::Cache same_cache;
  static Grown::CachedWorkspace same_workspace;
  REQUIRE(c_int8_grown_cache_clear(cache.bytes) == LADON_OK);
  Floats y(4 * 16), expected(4 * 16);
  for (const std::size_t tokens : {1u, 4u, 3u, 1u, 2u}) {
    const Floats x = random.normals(4 * 16);
    c_int8_grown_options options{};
    options.tokens = tokens;
    REQUIRE(c_int8_grown_extend(x.data(), cache.bytes, &weights, y.data(), workspace.bytes, &options) == LADON_OK);
    Grown::extend(Grown::Queries(x.data()), same_cache, views, Grown::Output(expected.data()), same_workspace,
                  {.tokens = tokens});
    CHECK(same_bits(y, expected));
  }
}

TEST_CASE("int8: weights that are a null pointer, and a y that overlaps with weights") {
  Random random(14);
  const Floating<c_int8_layer_float_weights> floats(random, layer_sizes);
  static Memory<C_INT8_LAYER_QUANTISED_BYTES> memory;
  static Memory<C_INT8_LAYER_WORKSPACE_BYTES> workspace;
  const Floats x = random.normals(17 * 12);
  Floats y(17 * 12);
  c_int8_layer_weights weights;
  REQUIRE(c_int8_layer_quantise(&floats.weights, &weights, memory.bytes) == LADON_OK);
  const auto run = [&](float* to) { return c_int8_layer_run(x.data(), &weights, to, workspace.bytes); };
  CHECK(run(y.data()) == LADON_OK);
  CHECK(run(reinterpret_cast<float*>(memory.bytes)) == LADON_OVERLAP);
  const auto without = [&](auto*& tensor) {
    auto* const before = tensor;
    tensor = nullptr;
    CHECK(run(y.data()) == LADON_NULL_WEIGHTS);
    tensor = before;
  };
  without(weights.attention.in_proj_weight);
  without(weights.gate_weight_scale);
  without(weights.linear2_weight_row_sum);
  without(weights.linear1_bias);
  CHECK(run(y.data()) == LADON_OK);
}

TEST_CASE("int8: NAME_quantise refuses wrong arguments, and then writes nothing") {
  Random random(15);
  Floating<c_int8_layer_float_weights> floats(random, layer_sizes);
  constexpr unsigned char before = 0x5a;
  static Memory<C_INT8_LAYER_QUANTISED_BYTES + 64> memory;
  c_int8_layer_weights weights;
  const auto quantise = [&](const c_int8_layer_float_weights* from, c_int8_layer_weights* to, void* bytes) {
    std::memset(&memory, before, sizeof(memory));
    std::memset(static_cast<void*>(&weights), before, sizeof(weights));
    const ladon_status status = c_int8_layer_quantise(from, to, bytes);
    if (status == LADON_OK) return status;
    CHECK(filled(memory, before));
    CHECK(filled(weights, before));
    return status;
  };
  CHECK(quantise(nullptr, &weights, memory.bytes) == LADON_NULL_WEIGHTS);
  CHECK(quantise(&floats.weights, nullptr, memory.bytes) == LADON_NULL_OUTPUT);
  CHECK(quantise(&floats.weights, &weights, nullptr) == LADON_NULL_OUTPUT);
  for (const std::size_t off : {1u, 4u, 32u}) {
    CHECK(quantise(&floats.weights, &weights, memory.bytes + off) == LADON_MISALIGNED);
  }
  CHECK(quantise(&floats.weights, reinterpret_cast<c_int8_layer_weights*>(memory.bytes + 64), memory.bytes) ==
        LADON_OVERLAP);
  CHECK(quantise(reinterpret_cast<const c_int8_layer_float_weights*>(&weights), &weights, memory.bytes) ==
        LADON_OVERLAP);

  // Replaces each float tensor first by a null pointer, and then by a pointer that overlaps `memory`, the output of
  // NAME_quantise. NAME_quantise must also check the pointers of biases and norms, although it does not copy these
  // tensors.
  std::array<const float*, sizeof(floats.weights) / sizeof(const float*)> tensors;
  const auto with = [&](std::size_t tensor, const float* pointer) {
    std::memcpy(&tensors, &floats.weights, sizeof(tensors));
    tensors[tensor] = pointer;
    c_int8_layer_float_weights wrong;
    std::memcpy(&wrong, &tensors, sizeof(wrong));
    return quantise(&wrong, &weights, memory.bytes);
  };
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    CAPTURE(i);
    CHECK(with(i, nullptr) == LADON_NULL_WEIGHTS);
    CHECK(with(i, reinterpret_cast<const float*>(memory.bytes + C_INT8_LAYER_QUANTISED_BYTES) - 1) == LADON_OVERLAP);
  }
  // Makes the last number of in_proj NaN or infinite, and then the last number of out_proj, gate, linear1 and linear2.
  for (const std::size_t tensor : {0u, 2u, 4u, 6u, 8u}) {
    CAPTURE(tensor);
    float& last = floats.tensors[tensor].back();
    for (const float bad : {NAN, INFINITY, -INFINITY}) {
      const float good = last;
      last = bad;
      CHECK(quantise(&floats.weights, &weights, memory.bytes) == LADON_NOT_FINITE);
      last = good;
    }
  }
  CHECK(quantise(&floats.weights, &weights, memory.bytes) == LADON_OK);
  for (std::size_t i = C_INT8_LAYER_QUANTISED_BYTES; i < sizeof(memory); ++i) CHECK(memory.bytes[i] == before);
  // NAME_quantise does not check the values of biases, so it accepts a NaN in a bias.
  floats.tensors[1][0] = NAN;
  CHECK(quantise(&floats.weights, &weights, memory.bytes) == LADON_OK);
}

TEST_CASE("int8: NAME_quantise keeps a row of zeros, with the scale 1") {
  Random random(16);
  Floating<c_int8_layer_float_weights> floats(random, layer_sizes);
  for (std::size_t i = 0; i < 12; ++i) floats.tensors[0][12 + i] = 0;
  static Memory<C_INT8_LAYER_QUANTISED_BYTES> memory;
  c_int8_layer_weights weights;
  REQUIRE(c_int8_layer_quantise(&floats.weights, &weights, memory.bytes) == LADON_OK);
  for (std::size_t i = 0; i < 12; ++i) CHECK(weights.attention.in_proj_weight[12 + i] == 0);
  CHECK(weights.attention.in_proj_weight_scale[1] == 1);
  CHECK(weights.attention.in_proj_weight_row_sum[1] == 0);
}

}  // namespace ladon_test
