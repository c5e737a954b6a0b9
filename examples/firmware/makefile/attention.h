/* Declares attention of 32 tokens with 64 features each, for programs in C. */
#pragma once

#define ATTENTION_TOKENS 32
#define ATTENTION_MODEL 64
#define ATTENTION_HEADS 4
#define ATTENTION_MULTIPLY_ADDS \
  (4 * ATTENTION_TOKENS * ATTENTION_MODEL * ATTENTION_MODEL + 2 * ATTENTION_TOKENS * ATTENTION_TOKENS * ATTENTION_MODEL)

#ifdef __cplusplus
extern "C" {
#endif

/* Computes y from x, both [ATTENTION_TOKENS][ATTENTION_MODEL]. y may be x. The function has one workspace, so only one
 * context (main loop, task or interrupt) may call the function. A second context needs a second workspace. */
void attention(const float* x, float* y);

/* The tensors of PyTorch's MultiheadAttention, in flash (weights.c). */
extern const float in_weight[3 * ATTENTION_MODEL * ATTENTION_MODEL], in_bias[3 * ATTENTION_MODEL];
extern const float out_weight[ATTENTION_MODEL * ATTENTION_MODEL], out_bias[ATTENTION_MODEL];

#ifdef __cplusplus
}
#endif

/* Puts a variable into the fastest RAM, which the linker script names. The start-up code does not clear the section. */
#define IN_FAST_RAM __attribute__((section(".fast_ram")))
