// Prints a hash (FNV-1a) of the bits that deterministic kernels compute. The hashes must be equal on every core and on
// the host.
#include <cstdint>
#include <cstring>
#include <span>
#include <type_traits>

#include "board.hpp"
#include "f_same_bits.h"
#include "f_same_int4.h"
#include "f_same_int8.h"
#include "f_same_long.h"
#include "f_same_mask.h"

namespace {

// Writes pseudo-random numbers. Their computation is exact, so the numbers are equal on all targets.
void fill(std::span<float> values, std::uint32_t seed, float size) {
  for (float& value : values) {
    seed = seed * 1664525u + 1013904223u;
    value = size * static_cast<float>(static_cast<std::int32_t>(seed) >> 8) * 0x1p-23f;
  }
}

// The memory of all weights and inputs. take() fills the next `count` elements of `numbers`, and returns their address.
float numbers[40960];
std::size_t taken = 0;
const float* take(std::size_t count, float size = 0.5f) {
  const std::span<float> values(numbers + taken, count);
  fill(values, static_cast<std::uint32_t>(taken), size);
  taken += count;
  return values.data();
}

void print_hash(const char* name, std::span<const float> values) {
  std::uint64_t hash = 0xcbf29ce484222325u;
  for (const float value : values) {
    std::uint32_t bits;
    std::memcpy(&bits, &value, sizeof bits);
    for (int shift = 0; shift < 32; shift += 8) hash = (hash ^ (bits >> shift & 0xff)) * 0x100000001b3u;
  }
  board::print(name);
  board::print(" ");
  board::print_number(hash);
  board::print("\n");
}

alignas(64) unsigned char workspace[F_SAME_BITS_WORKSPACE_BYTES + F_SAME_MASK_WORKSPACE_BYTES +
                                    F_SAME_INT8_WORKSPACE_BYTES + F_SAME_LONG_WORKSPACE_BYTES +
                                    F_SAME_INT4_WORKSPACE_BYTES];
float y[F_SAME_INT8_QUERIES * F_SAME_INT8_MODEL];

// Returns the weights of an encoder layer, whose feed-forward network has `hidden` hidden features.
template <class Layer>
Layer take_layer(std::size_t model, std::size_t hidden) {
  return {.attention = {.in_proj_weight = take(3 * model * model),
                        .in_proj_bias = take(3 * model),
                        .out_proj_weight = take(model * model),
                        .out_proj_bias = take(model)},
          .linear1_weight = take(hidden * model),
          .linear1_bias = take(hidden),
          .linear2_weight = take(model * hidden),
          .linear2_bias = take(model),
          .norm1_weight = take(model, 1),
          .norm1_bias = take(model),
          .norm2_weight = take(model, 1),
          .norm2_bias = take(model)};
}

bool encoder() {
  constexpr std::size_t model = F_SAME_BITS_MODEL, hidden = 16;
  f_same_bits_weights weights{};
  for (auto& layer : weights.layers) {
    layer = take_layer<std::remove_reference_t<decltype(layer)>>(model, hidden);
  }
  const float* const x = take(F_SAME_BITS_QUERIES * model, 3);
  if (f_same_bits_run(x, &weights, y, workspace) != LADON_OK) return false;
  print_hash("encoder", {y, F_SAME_BITS_QUERIES * model});
  return true;
}

bool attention() {
  constexpr std::size_t model = F_SAME_MASK_MODEL;
  const f_same_mask_weights weights{.in_proj_weight = take(3 * model * model),
                                    .in_proj_bias = take(3 * model),
                                    .out_proj_weight = take(model * model),
                                    .out_proj_bias = take(model)};
  const float* const x = take(F_SAME_MASK_QUERIES * model, 3);
  f_same_mask_options options{};
  options.tokens = F_SAME_MASK_QUERIES - 2;
  if (f_same_mask_run_with(x, &weights, y, workspace, &options) != LADON_OK) return false;
  print_hash("attention", {y, options.tokens * model});
  return true;
}

// Computes attention with weights that this program quantises into `memory`, and prints the hash of y. Returns false if
// a call fails.
template <class FloatWeights, class Weights>
bool quantised_attention(const char* name, std::size_t model, std::size_t queries, void* memory,
                         ladon_status (*quantise)(const FloatWeights*, Weights*, void*),
                         ladon_status (*run)(const float*, const Weights*, float*, void*)) {
  const FloatWeights weights{.in_proj_weight = take(3 * model * model),
                             .in_proj_bias = take(3 * model),
                             .out_proj_weight = take(model * model),
                             .out_proj_bias = take(model)};
  Weights quantised{};
  if (quantise(&weights, &quantised, memory) != LADON_OK) return false;
  const float* const x = take(queries * model, 3);
  if (run(x, &quantised, y, workspace) != LADON_OK) return false;
  print_hash(name, {y, queries * model});
  return true;
}

bool int8_attention() {
  alignas(F_SAME_INT8_QUANTISED_ALIGN) static unsigned char memory[F_SAME_INT8_QUANTISED_BYTES];
  return quantised_attention("int8 attention", F_SAME_INT8_MODEL, F_SAME_INT8_QUERIES, memory, f_same_int8_quantise,
                             f_same_int8_run);
}

bool int4_attention() {
  alignas(F_SAME_INT4_QUANTISED_ALIGN) static unsigned char memory[F_SAME_INT4_QUANTISED_BYTES];
  return quantised_attention("int4 attention", F_SAME_INT4_MODEL, F_SAME_INT4_QUERIES, memory, f_same_int4_quantise,
                             f_same_int4_run);
}

// Computes an encoder layer with int8 weights, and prints the hash of y. Returns false if a call fails.
bool int8_layer() {
  constexpr std::size_t model = F_SAME_LONG_MODEL, hidden = 300;
  alignas(F_SAME_LONG_QUANTISED_ALIGN) static unsigned char memory[F_SAME_LONG_QUANTISED_BYTES];
  const auto weights = take_layer<f_same_long_float_weights>(model, hidden);
  f_same_long_weights int8_weights{};
  if (f_same_long_quantise(&weights, &int8_weights, memory) != LADON_OK) return false;
  const float* const x = take(F_SAME_LONG_QUERIES * model, 3);
  if (f_same_long_run(x, &int8_weights, y, workspace) != LADON_OK) return false;
  print_hash("int8 layer", {y, F_SAME_LONG_QUERIES * model});
  return true;
}

}  // namespace

int main() { return encoder() && attention() && int8_attention() && int8_layer() && int4_attention() ? 0 : 1; }
