/* Tests two kernels in one C11 program, which is linked without a C++ runtime. c_stack contains code for several
 * instruction sets. */
#include <math.h>
#include <stdio.h>

#include "c_masked.h"
#include "c_stack.h"

static _Alignas(C_MASKED_WORKSPACE_ALIGN) unsigned char masked_workspace[C_MASKED_WORKSPACE_BYTES];
static _Alignas(C_STACK_WORKSPACE_ALIGN) unsigned char stack_workspace[C_STACK_WORKSPACE_BYTES];

enum { masked_model = C_MASKED_MODEL, masked_numbers = C_MASKED_QUERIES * C_MASKED_MODEL };
static float zeros[4 * C_MASKED_MODEL * C_MASKED_MODEL];
static float ones[C_STACK_MODEL];
static float bias[C_MASKED_MODEL];
static float x[masked_numbers], y[masked_numbers];

static int fail(const char* what, ladon_status status) {
  printf("%s: %s\n", what, ladon_status_text(status));
  return 1;
}

int main(void) {
  for (int i = 0; i < masked_model; ++i) bias[i] = (float)i;
  for (int i = 0; i < C_STACK_MODEL; ++i) ones[i] = 1;
  for (int i = 0; i < masked_numbers; ++i) x[i] = (float)(i % 7);

  /* All weights are 0, so the result of attention is the bias of the output projection. */
  const c_masked_weights weights = {
      .in_proj_weight = zeros, .in_proj_bias = zeros, .out_proj_weight = zeros, .out_proj_bias = bias};
  ladon_status status = c_masked_run_with(x, &weights, y, masked_workspace, &(c_masked_options){.tokens = 5});
  if (status != LADON_OK) return fail("c_masked", status);
  for (int i = 0; i < 5 * masked_model; ++i) {
    if (y[i] != bias[i % masked_model]) return fail("c_masked gives another number", LADON_OK);
  }

  /* All layers add 0 to x, so the stack returns the final norm of x, in which each token has mean 0 and variance 1. */
  c_stack_weights stack;
  for (int layer = 0; layer < C_STACK_LAYERS; ++layer) {
    const c_stack_attention_weights attention = {zeros, zeros, zeros, zeros};
    const c_stack_layer_weights of_layer = {attention, zeros, zeros, zeros, zeros, ones, zeros, ones, zeros};
    stack.layers[layer] = of_layer;
  }
  stack.norm_weight = ones;
  stack.norm_bias = zeros;
  status = c_stack_run(x, &stack, y, stack_workspace);
  if (status != LADON_OK) return fail("c_stack", status);
  float sum = 0, squares = 0;
  for (int i = 0; i < C_STACK_MODEL; ++i) {
    sum += y[i];
    squares += y[i] * y[i];
  }
  if (fabsf(sum) > 1e-5f || fabsf(squares - C_STACK_MODEL) > 1e-3f)
    return fail("c_stack gives other numbers", LADON_OK);
  puts("two kernels: ok");
  return 0;
}
