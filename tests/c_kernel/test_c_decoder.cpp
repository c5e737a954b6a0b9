// Tests C kernels of decoder layers and stacks that compute a whole text. The results must agree with the oracle, and
// calls with wrong arguments must return a status.
#include <doctest/doctest.h>

#include <array>
#include <cstddef>
#include <cstring>
#include <vector>

#include "c_decoder.h"
#include "c_single_decoder.h"
#include "decoder_kernel_subject.hpp"

namespace ladon_test {

namespace {

using S = ladon::Shape;

constexpr std::size_t model = C_DECODER_MODEL, tokens = C_DECODER_QUERIES, memory_tokens = C_DECODER_MEMORY;
constexpr std::size_t map_size = C_DECODER_HEADS * tokens * tokens,
                      memory_map_size = C_DECODER_HEADS * tokens * memory_tokens;

// The arguments of a correct call of c_decoder_run_with.
struct Arguments {
  alignas(64) unsigned char workspace[C_DECODER_WORKSPACE_BYTES];
  float tensor[3 * model * C_DECODER_FEED_FORWARD];  // every pointer of `weights` points to this array
  float x[tokens * model], y[tokens * model], memory[memory_tokens * model];
  float map[map_size], memory_map[memory_map_size];
  c_decoder_weights weights;
  c_decoder_options options;

  Arguments() : options{} {
    for (float& value : tensor) value = 0.25f;
    for (float& value : x) value = 1;
    for (float& value : memory) value = 2;
    std::array<const float*, sizeof(weights) / sizeof(const float*)> pointers;
    pointers.fill(tensor);
    std::memcpy(&weights, pointers.data(), sizeof(weights));
  }
  ladon_status run() { return c_decoder_run_with(x, memory, &weights, y, workspace, &options); }
};

}  // namespace

TEST_CASE("a decoder layer, post-LN, causal by default, a memory with padding") {
  constexpr S shape{.queries = C_SINGLE_DECODER_QUERIES, .model = C_SINGLE_DECODER_MODEL, .heads = 3};
  check_decoder(c_decoder_subject<shape, C_SINGLE_DECODER_MEMORY, C_SINGLE_DECODER_WORKSPACE_BYTES,
                                  c_single_decoder_weights, c_single_decoder_options, c_single_decoder_run_with>(),
                {.layer = {.feed_forward = 20}, .self_causal = true, .memory_padding = true});
}

TEST_CASE("a decoder stack, pre-LN with RMSNorm, causal and padding") {
  constexpr S shape{.queries = tokens, .model = model, .heads = C_DECODER_HEADS};
  check_decoder(c_decoder_subject<shape, memory_tokens, C_DECODER_WORKSPACE_BYTES, c_decoder_weights, c_decoder_options,
                                  c_decoder_run_with>(C_DECODER_LAYERS),
                {.layers = C_DECODER_LAYERS,
                 .layer = {.feed_forward = 8, .norm = ladon::NormOrder::pre, .norm_kind = ladon::NormKind::rms},
                 .final_norm = true,
                 .self_causal = true,
                 .self_padding = true});
}

TEST_CASE("a decoder returns a status for wrong arguments") {
  static Arguments a;
  CHECK(a.run() == LADON_OK);
  CHECK(c_decoder_run(a.x, a.memory, &a.weights, a.y, a.workspace) == LADON_OK);
  CHECK(c_decoder_run(a.x, a.memory, &a.weights, a.x, a.workspace) == LADON_OK);
  CHECK(c_decoder_run(a.x, nullptr, &a.weights, a.y, a.workspace) == LADON_NULL_INPUT);
  CHECK(c_decoder_run(nullptr, a.memory, &a.weights, a.y, a.workspace) == LADON_NULL_INPUT);
  CHECK(c_decoder_run(a.x, a.memory, nullptr, a.y, a.workspace) == LADON_NULL_WEIGHTS);
  CHECK(c_decoder_run(a.x, a.memory, &a.weights, nullptr, a.workspace) == LADON_NULL_OUTPUT);
  CHECK(c_decoder_run(a.x, a.memory, &a.weights, a.memory, a.workspace) == LADON_OVERLAP);
  CHECK(c_decoder_run(a.x, a.memory, &a.weights, a.memory + memory_tokens * model - 1, a.workspace) == LADON_OVERLAP);
  for (auto& attention : {&a.weights.layers[1].self_attention, &a.weights.layers[1].cross_attention}) {
    const float* const was = attention->out_proj_bias;
    attention->out_proj_bias = nullptr;
    CHECK(a.run() == LADON_NULL_WEIGHTS);
    attention->out_proj_bias = was;
  }
  const float* const was = a.weights.layers[0].norm3_weight;
  a.weights.layers[0].norm3_weight = nullptr;
  CHECK(a.run() == LADON_NULL_WEIGHTS);
  a.weights.layers[0].norm3_weight = was;

  a.options.memory.keys = memory_tokens + 1;
  CHECK(a.run() == LADON_LENGTH_BEYOND_SHAPE);
  a.options.memory.keys = LADON_NONE;
  CHECK(a.run() == LADON_OK);
  // If only two tokens of the memory are active, the call does not read the rest of the memory. So y may overlap the
  // rest of the memory.
  a.options.memory.keys = 2;
  CHECK(c_decoder_run_with(a.x, a.memory, &a.weights, a.memory + 2 * model, a.workspace, &a.options) == LADON_OK);
  a.options = {};

  a.options.memory.attention[1] = a.memory_map;
  CHECK(a.run() == LADON_OK);
  a.options.attention[0] = a.map;
  CHECK(a.run() == LADON_OK);
  a.options.attention[0] = a.memory_map + memory_map_size - 1;
  CHECK(a.run() == LADON_OVERLAP);
  a.options.attention[0] = a.y;
  CHECK(a.run() == LADON_OVERLAP);
  a.options = {};
  a.options.memory.padding = reinterpret_cast<const std::uint8_t*>(a.y);
  CHECK(a.run() == LADON_OVERLAP);
  a.options = {};
  CHECK(c_decoder_run_phase(C_DECODER_PHASES, 0, 1, a.x, a.memory, &a.weights, a.y, a.workspace, nullptr) ==
        LADON_NO_SUCH_PHASE);
  CHECK(c_decoder_run_phase(0, 1, 1, a.x, a.memory, &a.weights, a.y, a.workspace, nullptr) == LADON_NO_SUCH_PHASE);
}

}  // namespace ladon_test
