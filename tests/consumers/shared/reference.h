/* Computes causal self-attention with its projections in plain loops, in double. The example projects compare their
 * results with these loops. The file compiles as C and as C++. */
#ifndef REFERENCE_H
#define REFERENCE_H

#include <math.h>
#include <stdio.h>

#define TOKENS 8
#define MODEL 16
#define HEADS 2
#define WIDTH (MODEL / HEADS)

/* The inputs and the weights of the example projects. The weights have the layout of PyTorch. */
static float x[TOKENS * MODEL];
static float in_weight[3 * MODEL * MODEL];
static float in_bias[3 * MODEL];
static float out_weight[MODEL * MODEL];
static float out_bias[MODEL];

static void fill(float* numbers, int count, unsigned* state) { /* in [-1, 1) */
  for (int i = 0; i < count; ++i) {
    *state = *state * 1664525u + 1013904223u;
    numbers[i] = (float)(*state >> 8) / 8388608.0f - 1.0f;
  }
}

static void fill_all(void) {
  unsigned state = 1;
  fill(x, TOKENS * MODEL, &state);
  fill(in_weight, 3 * MODEL * MODEL, &state);
  fill(in_bias, 3 * MODEL, &state);
  fill(out_weight, MODEL * MODEL, &state);
  fill(out_bias, MODEL, &state);
}

/* Returns feature `out` of a linear layer for one row of MODEL numbers. */
static double linear(const double* row, const float* weight, const float* bias, int out) {
  double sum = bias[out];
  for (int k = 0; k < MODEL; ++k) sum += row[k] * weight[out * MODEL + k];
  return sum;
}

/* Computes the output of one head for one query. The query sees its own key and all earlier keys.
 * qkv: [TOKENS][3 * MODEL] */
static void attend(const double* qkv, int query, int head, double* out) {
  double sum = 0, values[WIDTH] = {0};
  for (int key = 0; key <= query; ++key) {
    double score = 0;
    for (int k = 0; k < WIDTH; ++k) {
      score += qkv[query * 3 * MODEL + head * WIDTH + k] * qkv[key * 3 * MODEL + MODEL + head * WIDTH + k];
    }
    const double weight = exp(score / sqrt((double)WIDTH));
    sum += weight;
    for (int k = 0; k < WIDTH; ++k) values[k] += weight * qkv[key * 3 * MODEL + 2 * MODEL + head * WIDTH + k];
  }
  for (int k = 0; k < WIDTH; ++k) out[head * WIDTH + k] = values[k] / sum;
}

/* Returns 0 if y, [tokens][MODEL], is correct. Otherwise, prints the index of a wrong number and returns 1. A number
 * may differ by 1e-5. Rounding errors are smaller, because q, k and v are sums of only 16 products of numbers in [-1,
 * 1). */
static int wrong(const float* y, int tokens) {
  double qkv[TOKENS * 3 * MODEL], row[MODEL], heads[MODEL];
  for (int t = 0; t < tokens; ++t) {
    for (int k = 0; k < MODEL; ++k) row[k] = x[t * MODEL + k];
    for (int out = 0; out < 3 * MODEL; ++out) qkv[t * 3 * MODEL + out] = linear(row, in_weight, in_bias, out);
  }
  for (int t = 0; t < tokens; ++t) {
    for (int head = 0; head < HEADS; ++head) attend(qkv, t, head, heads);
    for (int out = 0; out < MODEL; ++out) {
      const double expected = linear(heads, out_weight, out_bias, out);
      if (!(fabs(y[t * MODEL + out] - expected) < 1e-5)) {
        printf("y[%d][%d] is %.9g, should be %.9g\n", t, out, y[t * MODEL + out], expected);
        return 1;
      }
    }
  }
  return 0;
}

#endif
