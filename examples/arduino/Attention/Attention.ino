// Computes the attention of 8 tokens. The weights are in flash, the workspace is static memory, and no memory is
// allocated.
//
// Ladon is C++20. If a core compiles an older C++, put the following line into a file platform.local.txt beside the
// core's platform.txt. Or pass the line to arduino-cli compile by --build-property:
//   compiler.cpp.extra_flags=-std=gnu++20 -ffp-contract=off -fno-math-errno

#include <ladon.h>

#include "weights.h"

constexpr ladon::Shape shape{.queries = 8, .keys = 8, .model = 16, .heads = 2};
using SelfAttention = ladon::MultiHeadAttention<shape, ladon::mask::Causal>;

constexpr auto in_weight = numbers<3 * shape.model * shape.model>(1);
constexpr auto in_bias = numbers<3 * shape.model>(2);
constexpr auto out_weight = numbers<shape.model * shape.model>(3);
constexpr auto out_bias = numbers<shape.model>(4);
constexpr SelfAttention::Weights weights{.in_proj = {in_weight, in_bias}, .out_proj = {out_weight, out_bias}};

constexpr auto x = numbers<shape.queries * shape.model>(5);  // [8 tokens][16 features]
std::array<float, x.size()> y;
SelfAttention::Workspace workspace;

void setup() { Serial.begin(115200); }

void loop() {
  SelfAttention::run(x.data(), weights, y.data(), workspace);
  Serial.println(y[(shape.queries - 1) * shape.model], 6);  // the last token: the only token that sees all tokens
  delay(1000);
}
