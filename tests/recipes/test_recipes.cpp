// Tests that the code of docs/pytorch.md computes the numbers of the original models. export.py wrote the inputs and
// the expected numbers.
#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <ladon/ladon.hpp>
#include <ladon/safetensors.hpp>
#include <string>

#include "bert_encoder.h"
#include "keras_attention.h"
#include "onnx_layer.h"
#include "text_encoder.h"

// The code of docs/pytorch.md includes headers of Ladon. The same headers are included above, so the #include lines
// declare nothing inside the namespaces below.
namespace pytorch {
#include "pytorch.cpp"
}
namespace bert {
#include "code/bert.cpp"
}
extern "C" ladon_status encode(const float* x, const unsigned char* may_see, std::size_t tokens, float* y);

namespace {

constexpr std::size_t tokens = 6, model = 8, room = 64;
using Tokens = std::array<float, tokens * model>;
using MaySee = std::array<std::uint8_t, room>;  // attention reads only the bytes of the tokens

// The tolerance is 2^-18. All elements of y are below 4, where neighbouring floats differ by at most 2^-22. A number of
// y passes through about ten roundings. Each has an error of at most half of 2^-22, so a correct model has an error of
// at most about 5 * 2^-22.
constexpr float tolerance = 0x1p-18f;

std::string path_of(const std::string& file) { return std::string(LADON_RECIPE_FILES) + "/" + file; }

// The inputs and the outputs of the original model.
struct Expected {
  explicit Expected(const std::string& recipe) {
    const ladon::safetensors::File file(path_of(recipe + "/expected.safetensors"));
    std::memcpy(x.data(), file.tensor("x", {tokens, model}), sizeof(x));
    std::memcpy(y.data(), file.tensor("y", {tokens, model}), sizeof(y));
    std::memcpy(may_see.data(), file.tensor<std::uint8_t>("may_see", {tokens}), tokens);
  }
  Tokens x{}, y{};
  MaySee may_see{};
};

// Returns the largest absolute difference of `a` and `b`, or infinity if an element is NaN.
float difference(const Tokens& a, const Tokens& b) {
  float largest = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    const float one = std::fabs(a[i] - b[i]);
    largest = one >= 0 ? std::max(largest, one) : INFINITY;
  }
  return largest;
}

// Checks that `run(may_see, y)` gives the expected y with the mask of the model. Then swaps 0 and 1 in the mask, so
// that 1 hides a key, as in PyTorch. y must then differ from the expected y, which shows that the mask has an effect.
template <class Run>
void check_with_mask(const Expected& expected, const Run& run) {
  Tokens y{};
  y.fill(NAN);
  run(expected.may_see, y);
  CHECK(difference(y, expected.y) <= tolerance);

  MaySee negated{};
  for (std::size_t i = 0; i < tokens; ++i) negated[i] = expected.may_see[i] == 0;
  run(negated, y);
  CHECK(difference(y, expected.y) > 1000 * tolerance);
}

}  // namespace

TEST_CASE("PyTorch's encoder in C++") {
  const Expected expected("pytorch");
  check_with_mask(expected, [&](const MaySee& may_see, Tokens& y) {
    pytorch::encode(path_of("pytorch/model.safetensors").c_str(), expected.x.data(), may_see.data(), tokens, y.data());
  });
}

TEST_CASE("PyTorch's encoder in C") {
  const Expected expected("pytorch");
  check_with_mask(expected, [&](const MaySee& may_see, Tokens& y) {
    REQUIRE(encode(expected.x.data(), may_see.data(), tokens, y.data()) == LADON_OK);
  });
}

TEST_CASE("Hugging Face's BERT in C") {
  alignas(BERT_ENCODER_WORKSPACE_ALIGN) static unsigned char workspace[BERT_ENCODER_WORKSPACE_BYTES];
  const Expected expected("bert");
  check_with_mask(expected, [&](const MaySee& may_see, Tokens& y) {
    bert_encoder_options options{};
    options.tokens = tokens;
    options.padding = may_see.data();
    REQUIRE(bert_encoder_run_with(expected.x.data(), &bert_encoder_stored_weights, y.data(), workspace, &options) ==
            LADON_OK);
  });
}

TEST_CASE("Keras' attention in C, causal") {
  alignas(KERAS_ATTENTION_WORKSPACE_ALIGN) static unsigned char workspace[KERAS_ATTENTION_WORKSPACE_BYTES];
  const Expected expected("keras");
  Tokens y{};
  keras_attention_options options{};
  options.tokens = tokens;
  REQUIRE(keras_attention_run_with(expected.x.data(), &keras_attention_stored_weights, y.data(), workspace, &options) ==
          LADON_OK);
  CHECK(difference(y, expected.y) <= tolerance);
}

TEST_CASE("a layer in an ONNX file in C") {
  alignas(ONNX_LAYER_WORKSPACE_ALIGN) static unsigned char workspace[ONNX_LAYER_WORKSPACE_BYTES];
  const Expected expected("onnx");
  Tokens y{};
  onnx_layer_options options{};
  options.tokens = tokens;
  REQUIRE(onnx_layer_run_with(expected.x.data(), &onnx_layer_stored_weights, y.data(), workspace, &options) ==
          LADON_OK);
  CHECK(difference(y, expected.y) <= tolerance);
}

TEST_CASE("Hugging Face's BERT") {
  const Expected expected("bert");
  check_with_mask(expected, [&](const MaySee& may_see, Tokens& y) {
    bert::encode(path_of("bert/bert/model.safetensors").c_str(), expected.x.data(), may_see.data(), tokens, y.data());
  });
}
