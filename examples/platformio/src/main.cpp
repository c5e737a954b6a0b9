// Computes the attention of 8 tokens on a microcontroller, or on a PC. The weights are in flash, the workspace is
// static memory, and no memory is allocated.
#if defined(ARDUINO)
#include <Arduino.h>
#else
#include <cstdio>
#endif

#include <array>
#include <ladon/ladon.hpp>

namespace {

constexpr ladon::Shape shape{.queries = 8, .keys = 8, .model = 16, .heads = 2};
using SelfAttention = ladon::MultiHeadAttention<shape, ladon::mask::Causal>;

// Returns `Count` numbers from -0.25 to 0.25, which stand for trained weights. The compiler computes the arrays, so
// they are constants.
template <std::size_t Count>
constexpr std::array<float, Count> weights_of(unsigned seed) {
  std::array<float, Count> weights{};
  for (float& weight : weights) {
    seed = seed * 1664525U + 1013904223U;  // the generator of Numerical Recipes
    weight = static_cast<float>(static_cast<int>(seed >> 24U) - 128) / 512.0f;
  }
  return weights;
}

constexpr auto in_weight = weights_of<3 * shape.model * shape.model>(1);
constexpr auto in_bias = weights_of<3 * shape.model>(2);
constexpr auto out_weight = weights_of<shape.model * shape.model>(3);
constexpr auto out_bias = weights_of<shape.model>(4);
constexpr SelfAttention::Weights weights{.in_proj = {in_weight, in_bias}, .out_proj = {out_weight, out_bias}};

constexpr auto x = weights_of<shape.queries * shape.model>(5);  // [8 tokens][16 features]
std::array<float, x.size()> y;
SelfAttention::Workspace workspace;

// Returns the first feature of the last token, the only token that sees all tokens.
float attend() {
  SelfAttention::run(x.data(), weights, y.data(), workspace);
  return y[(shape.queries - 1) * shape.model];
}

}  // namespace

#if defined(ARDUINO)
void setup() { Serial.begin(115200); }

void loop() {
  Serial.println(attend(), 6);
  delay(1000);
}
#else
int main() {
  std::printf("%.6f, computed in %u bytes of workspace\n", static_cast<double>(attend()),
              static_cast<unsigned>(sizeof(SelfAttention::Workspace)));
}
#endif
