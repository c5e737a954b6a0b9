// Tests that kernels made by ladon_add_kernel agree with the oracle in every variation. A library with several
// instruction sets is tested with each instruction set.
#include <doctest/doctest.h>

#include <vector>

#include "attention_check.hpp"
#include "c_blocks.h"
#include "c_cross.h"
#include "c_heads.h"
#include "c_keywords.h"
#include "c_layer.h"
#include "c_masked.h"
#include "c_stack.h"
#include "c_subject.hpp"
#include "c_wide.h"
#include "each_isa.hpp"
#include "encoder_check.hpp"
#include "random.hpp"

namespace ladon_test {

namespace {

using S = ladon::Shape;

}  // namespace

TEST_CASE("attention, causal with an offset at run time, and padding") {
  constexpr S shape{.queries = C_MASKED_QUERIES, .model = C_MASKED_MODEL, .heads = C_MASKED_HEADS};
  Subject subject = c_subject<shape, C_MASKED_WORKSPACE_BYTES, c_masked_weights, c_masked_options, c_masked_run_with>();
  subject.mask = {.causal = true, .padding = true};
  check_self(subject);
}

// In C++, the data of a padding mask and the data of a boolean mask both have a member `may_see`. The data of a boolean
// mask and the data of an additive mask both have a member `keys`. In C, each mask must therefore have separate
// options.
TEST_CASE("a matrix for each head, one key head for three query heads, sinks, a scale, ALiBi and three other masks") {
  constexpr S shape{.queries = 18, .model = 15, .heads = 3, .kv_heads = 1, .head_width = 5, .value_width = 7};
  Subject subject = c_subject<shape, C_HEADS_WORKSPACE_BYTES, c_heads_weights, c_heads_options, c_heads_run_with>();
  subject.mask = {.padding = true, .boolean = true, .additive = true, .alibi = true};
  subject.layout = WeightLayout::per_head;
  subject.score = {.scale = 0.25, .sinks = true};
  check_self(subject);
}

TEST_CASE("in_proj in two blocks, with the values before the keys; a LayerNorm of each head") {
  constexpr S shape{.queries = 18, .model = 48, .heads = 6, .kv_heads = 2};
  Subject subject = c_subject<shape, C_BLOCKS_WORKSPACE_BYTES, c_blocks_weights, c_blocks_options, c_blocks_run_with>();
  subject.layout = WeightLayout::values_first;
  subject.norms = {ladon::HeadNorm::each_head, ladon::NormKind::layer, ladon::Bias::with};
  subject.norm_epsilon = 0.5f;
  check_self(subject);
}

TEST_CASE("attention to a context, (in, out), bits, an addend for each head, a softcap") {
  constexpr S shape{.queries = 7, .keys = 20, .model = 24, .heads = 3, .key_model = 16, .value_model = 16};
  Subject subject =
      c_cross_subject<shape, C_CROSS_WORKSPACE_BYTES, c_cross_weights, c_cross_options, c_cross_run_with>();
  subject.mask = {.bits = true, .additive_per_head = true};
  subject.layout = WeightLayout::in_out;
  subject.score = {.softcap = 3};
  check_cross(subject);
}

TEST_CASE("every instruction set: grouped heads, a window and a bias, separate projections") {
  constexpr S shape{.queries = 19, .model = 24, .heads = 4, .kv_heads = 2};
  each_isa<shape, C_WIDE_WORKSPACE_BYTES, c_wide_weights, c_wide_options, c_wide_run_with>(1, [](Subject subject) {
    subject.mask = {.window = true, .left = 5, .right = 2, .additive = true};
    subject.layout = WeightLayout::separate;
    check_self(subject);
  });
}

TEST_CASE(
    "an encoder layer, gated, with a bias of its own, without biases of the output and the norms, another epsilon") {
  constexpr S shape{.queries = 17, .model = 12, .heads = 3};
  Subject subject = c_subject<shape, C_LAYER_WORKSPACE_BYTES, c_layer_weights, c_layer_options, c_layer_run_with>();
  subject.mask = {.padding = true};
  check_encoder(subject, {.layer = {.feed_forward = 20,
                                    .activation = ladon::Activation::gelu,
                                    .gated = true,
                                    .norm_bias = ladon::Bias::without,
                                    .layer_bias = true},
                          .output = ladon::Bias::without,
                          .epsilon = 1e-12f});
}

TEST_CASE("a stack of the Keyword Transformer's layers, a bias only in attention's output") {
  constexpr S shape{.queries = C_KEYWORDS_QUERIES, .model = C_KEYWORDS_MODEL, .heads = 1};
  const Subject subject =
      c_subject<shape, C_KEYWORDS_WORKSPACE_BYTES, c_keywords_weights, c_keywords_options, c_keywords_run_with>(
          C_KEYWORDS_LAYERS);
  check_encoder(subject, {.layers = C_KEYWORDS_LAYERS,
                          .layer = {.feed_forward = 20, .activation = ladon::Activation::gelu_tanh},
                          .projections = ladon::Bias::without,
                          .epsilon = 1e-6f});
}

TEST_CASE("every instruction set: a stack, pre-LN, with a final norm") {
  constexpr S shape{.queries = 20, .model = 8, .heads = 2};
  each_isa<shape, C_STACK_WORKSPACE_BYTES, c_stack_weights, c_stack_options, c_stack_run_with>(2, [](Subject subject) {
    subject.mask = {.padding = true};
    check_encoder(subject,
                  {.layers = 2, .layer = {.feed_forward = 16, .norm = ladon::NormOrder::pre}, .final_norm = true});
  });
}

// A kernel with DETERMINISTIC must give equal bits with every instruction set.
TEST_CASE("every instruction set gives equal bits") {
  Random random(11);
  constexpr std::size_t model = C_STACK_MODEL, hidden = C_STACK_FEED_FORWARD;
  const std::vector<std::size_t> sizes{3 * model * model, 3 * model, model * model, model, hidden * model, hidden,
                                       model * hidden,    model,     model,         model, model,          model};
  std::vector<Floats> tensors;
  for (int layer = 0; layer < C_STACK_LAYERS; ++layer) {
    for (const std::size_t size : sizes) tensors.push_back(random.normals(size, 0.4));
  }
  for (int i = 0; i < 2; ++i) tensors.push_back(random.normals(model));
  std::vector<const float*> pointers;
  for (const Floats& tensor : tensors) pointers.push_back(tensor.data());
  REQUIRE(sizeof(c_stack_weights) == pointers.size() * sizeof(const float*));
  const auto weights = c_weights<c_stack_weights>(pointers.data());
  check_same_bits<C_STACK_WORKSPACE_BYTES, c_stack_weights, c_stack_options, c_stack_run_with>(
      random.normals(C_STACK_QUERIES * model), weights);
}

}  // namespace ladon_test
