// A part of a program: the function PART computes attention and compares it with plain loops in double. Several parts,
// compiled with different flags, make one program. PART is a macro of the command line.
#include <ladon/ladon.hpp>

#include "../consumers/shared/reference.h"

int PART();

int PART() {
  using Attention = ladon::MultiHeadAttention<ladon::Model{
      .tokens = TOKENS, .model = MODEL, .heads = HEADS, .mask = {.causal = true}}>;
  static Attention::Workspace workspace;
  static float y[TOKENS * MODEL];
  fill_all();
  const Attention::Weights weights{.in_proj = {in_weight, in_bias}, .out_proj = {out_weight, out_bias}};
  Attention::run(x, weights, y, workspace);
  int failures = wrong(y, TOKENS);
  Attention::run(x, weights, y, workspace, {.tokens = 5});
  failures += wrong(y, 5);
  return failures;
}
