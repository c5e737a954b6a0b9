// A program that uses the headers. Computes attention with all tokens of the shape and with fewer tokens, and compares
// the results with the plain loops of reference.h.
#if defined(SINGLE_HEADER)
#include "ladon.hpp"
#else
#include <ladon/ladon.hpp>
#endif

#include <cstdio>

#include "reference.h"

namespace {

constexpr ladon::Shape shape{.queries = TOKENS, .keys = TOKENS, .model = MODEL, .heads = HEADS};
using Attention = ladon::MultiHeadAttention<shape, ladon::mask::Causal>;
Attention::Workspace workspace;
float y[TOKENS * MODEL];

}  // namespace

int main() {
  fill_all();
  const Attention::Weights weights{.in_proj = {in_weight, in_bias}, .out_proj = {out_weight, out_bias}};
  Attention::run(x, weights, y, workspace);
  int failures = wrong(y, TOKENS);
  y[5 * MODEL] = 7;
  Attention::run(x, weights, y, workspace, {.tokens = 5});
  failures += wrong(y, 5);
  if (y[5 * MODEL] != 7.0f) {
    std::puts("a row beyond the active ones was written");
    ++failures;
  }
  std::printf("ladon %s, %s: %d wrong\n", LADON_VERSION_STRING, LADON_HAS_XSIMD ? "xsimd" : "plain arrays", failures);
  return failures;
}
