// SPDX-License-Identifier: Apache-2.0
// Tests that a kernel must not contradict the config.json of its checkpoint.
#include "kernel_agreement.hpp"

#include <doctest/doctest.h>

#include <filesystem>
#include <string>

#include <ladon/safetensors/error.hpp>

namespace ladon::weights {
namespace {

const std::filesystem::path gpt2_folder = std::filesystem::path(LADON_MODELS) / "gpt2";

// What ladon_add_kernel says of GPT-2's stack, with other lines behind it.
std::string stack_and(const std::string& more) {
  return R"(part stack
epsilon 1e-5
  model.tokens = 9;
  model.model = 48;
  model.heads = 6;
  model.feed_forward = 40;
  model.layers = 2;
  model.final_norm = ladon::FinalNorm::with;
  model.activation = ladon::Activation::gelu_tanh;
  model.norm = ladon::NormOrder::pre;
  model.layout = ladon::LayoutKind::in_proj_in_out;
  model.mask.causal = true;
)" + more;
}

std::string error_of(const std::string& kernel, const std::string& prefix = "") {
  try {
    check_agreement(gpt2_folder, prefix, kernel);
  } catch (const std::exception& error) {
    return error.what();
  }
  return "no error";
}

bool says(const std::string& text, const std::string& part) {
  INFO(text);
  return text.find(part) != std::string::npos;
}

}  // namespace

TEST_SUITE_BEGIN("kernel_agreement");

TEST_CASE("a kernel that has the sizes and the options of config.json is accepted") {
  CHECK(error_of(stack_and("")) == "no error");
  CHECK(error_of(stack_and(""), "h") == "no error");
  CHECK(error_of(stack_and("  model.precision = ladon::PrecisionKind::int8;\n")) == "no error");
  CHECK(error_of(stack_and("any causal\n  model.mask.causal = false;\n")) == "no error");
}

TEST_CASE("each contradiction is named with the key of config.json") {
  const std::string wrong = error_of(stack_and("  model.heads = 3;\n  model.norm = ladon::NormOrder::post;\n"));
  CHECK(says(wrong, "config.json contradicts the layer:"));
  CHECK(says(wrong, R"(heads: the layer says 3, and config.json says 6 ("n_head"))"));
  CHECK(says(wrong, "norm: the layer says ladon::NormOrder::post, and config.json says ladon::NormOrder::pre"));
  CHECK(says(error_of(stack_and("epsilon 1e-12\n")), "epsilon: the layer says 1e-12, and config.json says 1e-05f"));
  CHECK(says(error_of(stack_and("  model.mask.causal = false;\n")), "mask.causal: the layer says false"));
  CHECK(
      says(error_of(stack_and("  model.score.scale = static_cast<float>(1);\n")), "score.scale: the layer says 1.0f"));
  CHECK(says(error_of(stack_and("  model.mask.left = 3;\n  model.mask.right = 0;\n")),
             "window of layer 0: the layer says 3 before, 0 after"));
}

TEST_SUITE_END();

}  // namespace ladon::weights
