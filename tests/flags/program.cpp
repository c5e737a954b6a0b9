// Compares encoder layers with plain loops in double precision. check.py compiles this program with flags that change
// the meaning of float arithmetic. With these flags, std::isfinite may be wrong, so the program looks at bits.
//
// Prints the largest errors, and a hash of the results. Fails if an error is too large. With FLUSH=1, the program sets
// the processor to flush subnormals to zero. With KERNEL=1, a kernel of ladon_add_kernel computes the float32 layer,
// and there is no int8 layer.
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstring>

#if FLUSH && defined(__SSE2__)
#include <xmmintrin.h>
#endif

#include <ladon/ladon.hpp>
#if KERNEL
#include "flags_kernel.h"
#endif

namespace {

constexpr std::size_t tokens = 20, width = 32, heads = 2, head_width = width / heads, hidden = 48;

constexpr ladon::Model model_of(ladon::PrecisionKind precision) {
  ladon::Model model{.tokens = tokens, .model = width, .heads = heads, .feed_forward = hidden};
  model.activation = ladon::Activation::gelu;
  model.mask.boolean = true;
  model.precision = precision;
  return model;
}

// The next number of a fixed sequence, in [-1, 1).
float random_number() {
  static std::uint32_t state = 1;
  state = state * 1664525u + 1013904223u;
  return static_cast<float>(state >> 8) / 8388608.0f - 1.0f;
}

template <std::size_t N>
void fill(float (&numbers)[N], float scale) {
  for (float& number : numbers) number = random_number() * scale;
}

// A linear map with float32 weights, the same map with int8 weights, and the map that `Exact` computes.
template <std::size_t Out, std::size_t In>
struct Map {
  float weight[Out * In], bias[Out], scale[Out];
  std::int8_t integer[Out * In];
  std::int32_t row_sum[Out];

  bool make() {
    fill(weight, 0.25f);
    fill(bias, 0.5f);
    const bool finite = ladon::quantise(floats(), integer, scale);
    ladon::row_sums<Out, In>(integer, row_sum);
    return finite;
  }
  ladon::Linear<Out, In> floats() const { return {.weight = weight, .bias = bias}; }
  auto integers() const {
    return ladon::Linear<Out, In, ladon::Order::out_in, ladon::Bias::with, ladon::precision::Int8<8>>{
        .weight = integer, .scale = scale, .row_sum = row_sum, .bias = bias};
  }
  double apply(bool int8, const double* x, std::size_t out) const {
    double sum = bias[out];
    for (std::size_t i = 0; i < In; ++i) {
      const std::size_t at = out * In + i;
      sum += x[i] * (int8 ? double{scale[out]} * integer[at] : double{weight[at]});
    }
    return sum;
  }
};

Map<3 * width, width> in_proj;
Map<width, width> out_proj;
Map<hidden, width> linear1;
Map<width, hidden> linear2;
float gain[width], shift[width], x[tokens * width], y[tokens * width];
std::uint8_t may_see[tokens * tokens];
double expected[tokens * width];

void normalise(double* row) {
  double mean = 0, variance = 0;
  for (std::size_t i = 0; i < width; ++i) mean += row[i] / width;
  for (std::size_t i = 0; i < width; ++i) variance += (row[i] - mean) * (row[i] - mean) / width;
  for (std::size_t i = 0; i < width; ++i) row[i] = (row[i] - mean) / std::sqrt(variance + 1e-5) * gain[i] + shift[i];
}

void compute_expected(bool int8) {
  static double row[tokens][width], qkv[tokens][3 * width];
  for (std::size_t t = 0; t < tokens; ++t) {
    for (std::size_t i = 0; i < width; ++i) row[t][i] = x[t * width + i];
    for (std::size_t o = 0; o < 3 * width; ++o) qkv[t][o] = in_proj.apply(int8, row[t], o);
  }
  for (std::size_t t = 0; t < tokens; ++t) {
    double context[width]{};
    for (std::size_t h = 0; h < heads; ++h) {
      double weight[tokens], total = 0;
      for (std::size_t k = 0; k < tokens; ++k) {
        double score = 0;
        for (std::size_t i = h * head_width; i < (h + 1) * head_width; ++i) score += qkv[t][i] * qkv[k][width + i];
        weight[k] = may_see[t * tokens + k] ? std::exp(score / std::sqrt(double{head_width})) : 0;
        total += weight[k];
      }
      for (std::size_t k = 0; total > 0 && k < tokens; ++k) {
        for (std::size_t i = h * head_width; i < (h + 1) * head_width; ++i) {
          context[i] += weight[k] / total * qkv[k][2 * width + i];
        }
      }
    }
    double features[hidden];
    for (std::size_t i = 0; i < width; ++i) row[t][i] += out_proj.apply(int8, context, i);
    normalise(row[t]);
    for (std::size_t i = 0; i < hidden; ++i) {
      const double sum = linear1.apply(int8, row[t], i);
      features[i] = sum / 2 * (1 + std::erf(sum / std::sqrt(2.0)));
    }
    for (std::size_t i = 0; i < width; ++i) row[t][i] += linear2.apply(int8, features, i);
    normalise(row[t]);
    for (std::size_t i = 0; i < width; ++i) expected[t * width + i] = row[t][i];
  }
}

std::uint32_t bits_of(float number) {
  std::uint32_t bits;
  std::memcpy(&bits, &number, sizeof bits);
  return bits;
}

template <ladon::PrecisionKind P, class Layer = ladon::EncoderLayer<model_of(P)>>
void run(const typename Layer::Weights& weights) {
  static typename Layer::Workspace workspace;
  Layer::run(x, weights, y, workspace, {.mask = {.may_see = may_see}});
}

// Compares y with plain loops, and returns whether all errors are at most `limit`.
bool check(const char* name, bool int8, double limit) {
  compute_expected(int8);
  double largest = 0;
  std::uint32_t hash = 2166136261u, not_finite = 0;
  for (std::size_t i = 0; i < tokens * width; ++i) {
    const std::uint32_t bits = bits_of(y[i]);
    hash = (hash ^ bits) * 16777619u;
    if ((bits & 0x7fffffffu) >= 0x7f800000u) ++not_finite;
    const double error = std::fabs(y[i] - expected[i]);
    if (largest < error) largest = error;
  }
  std::printf("%s: largest error %.1e, %u numbers not finite, hash %08x\n", name, largest,
              static_cast<unsigned>(not_finite), static_cast<unsigned>(hash));
  return not_finite == 0 && largest <= limit;
}

}  // namespace

int main() {
#if FLUSH && defined(__SSE2__)
  _mm_setcsr(_mm_getcsr() | 0x8040);  // flush to zero, and subnormals are zeros
#endif
  fill(x, 2);
  for (std::size_t i = 0; i < width; ++i) x[5 * width + i] = 1e-40f * static_cast<float>(i);
  fill(gain, 1);
  fill(shift, 1);
  for (std::size_t q = 0; q < tokens; ++q) {
    for (std::size_t k = 0; k < tokens; ++k) may_see[q * tokens + k] = q % 3 != 0 && k <= q && k % 4 != 1;
  }
  if (!in_proj.make() || !out_proj.make() || !linear1.make() || !linear2.make()) return 2;
#if KERNEL
  alignas(FLAGS_KERNEL_WORKSPACE_ALIGN) static unsigned char workspace[FLAGS_KERNEL_WORKSPACE_BYTES];
  const flags_kernel_weights weights{{in_proj.weight, in_proj.bias, out_proj.weight, out_proj.bias},
                                     linear1.weight,
                                     linear1.bias,
                                     linear2.weight,
                                     linear2.bias,
                                     gain,
                                     shift,
                                     gain,
                                     shift};
  flags_kernel_options options{};
  options.boolean = may_see;
  if (flags_kernel_run_with(x, &weights, y, workspace, &options) != LADON_OK) return 3;
#else
  run<ladon::PrecisionKind::float32>({.attention = {.in_proj = in_proj.floats(), .out_proj = out_proj.floats()},
                                      .linear1 = linear1.floats(),
                                      .linear2 = linear2.floats(),
                                      .norm1 = {.weight = gain, .bias = shift},
                                      .norm2 = {.weight = gain, .bias = shift}});
#endif
  const bool right = check("float32", false, 2e-6);
#if KERNEL
  return right ? 0 : 1;
#else
  run<ladon::PrecisionKind::int8>({.attention = {.in_proj = in_proj.integers(), .out_proj = out_proj.integers()},
                                   .linear1 = linear1.integers(),
                                   .linear2 = linear2.integers(),
                                   .norm1 = {.weight = gain, .bias = shift},
                                   .norm2 = {.weight = gain, .bias = shift}});
  return check("int8", true, 2e-2) && right ? 0 : 1;
#endif
}
