// streaming: computes an encoder on a stream of frames, one frame at a time, as a program for a microphone or a sensor
// does. A cache holds the keys and values of the last 16 frames. The mask is a window, so the cache is a ring buffer,
// and the stream may have any length. The program then computes all frames in one call of another kernel, and compares
// the results.
//
// CMakeLists.txt makes the kernel for one frame and the kernel for all frames. Rounding may make their results differ.
// With the argument DETERMINISTIC of ladon_add_kernel, both kernels would give the same bits.
#include <cstddef>
#include <cstdint>
#include <span>

#include "board.hpp"
#include "print.hpp"
#include "stream_frame.h"
#include "stream_whole.h"

namespace {

constexpr std::size_t frames = STREAM_WHOLE_QUERIES, model = STREAM_FRAME_MODEL, hidden = STREAM_FRAME_FEED_FORWARD;
constexpr float largest_difference = 1e-5f;

// The tensors of one layer. Both kernels use these tensors. Each kernel has its own struct of weights, but both structs
// contain only pointers, so the tensors are stored once.
struct Layer {
  float in_weight[3 * model * model], in_bias[3 * model], out_weight[model * model], out_bias[model];
  float weight1[hidden * model], bias1[hidden], weight2[model * hidden], bias2[model];
  float norm1_weight[model], norm1_bias[model], norm2_weight[model], norm2_bias[model];
};
Layer layers[STREAM_FRAME_LAYERS];

alignas(STREAM_FRAME_WORKSPACE_ALIGN) unsigned char frame_workspace[STREAM_FRAME_WORKSPACE_BYTES];
alignas(STREAM_FRAME_WORKSPACE_ALIGN) unsigned char cache[STREAM_FRAME_CACHE_BYTES];
alignas(STREAM_WHOLE_WORKSPACE_ALIGN) unsigned char whole_workspace[STREAM_WHOLE_WORKSPACE_BYTES];
float x[frames * model], streamed[frames * model], whole[frames * model];  // [frames][model]

std::uint32_t state = 1;
void fill(std::span<float> values, float size) {
  for (float& value : values) {
    state = state * 1664525u + 1013904223u;
    value = size * static_cast<float>(static_cast<std::int32_t>(state) >> 8) * 0x1p-23f;
  }
}

template <class Weights>
Weights weights_of() {
  Weights weights{};
  for (std::size_t i = 0; i < STREAM_FRAME_LAYERS; ++i) {
    const Layer& l = layers[i];
    weights.layers[i] = {.attention = {.in_proj_weight = l.in_weight,
                                       .in_proj_bias = l.in_bias,
                                       .out_proj_weight = l.out_weight,
                                       .out_proj_bias = l.out_bias},
                         .linear1_weight = l.weight1,
                         .linear1_bias = l.bias1,
                         .linear2_weight = l.weight2,
                         .linear2_bias = l.bias2,
                         .norm1_weight = l.norm1_weight,
                         .norm1_bias = l.norm1_bias,
                         .norm2_weight = l.norm2_weight,
                         .norm2_bias = l.norm2_bias};
  }
  return weights;
}

// Computes the stream, frame by frame. Returns how many instructions the last frame took, or 0 after an error.
std::uint64_t stream() {
  const auto weights = weights_of<stream_frame_weights>();
  if (stream_frame_cache_clear(cache) != LADON_OK) return 0;
  std::uint64_t instructions = 0;
  for (std::size_t i = 0; i < frames; ++i) {
    const std::uint64_t start = board::instructions();
    if (stream_frame_extend(x + i * model, cache, &weights, streamed + i * model, frame_workspace, nullptr) != LADON_OK)
      return 0;
    instructions = board::instructions() - start;
  }
  return instructions;
}

std::uint64_t run_whole() {
  const auto weights = weights_of<stream_whole_weights>();
  const std::uint64_t start = board::instructions();
  if (stream_whole_run(x, &weights, whole, whole_workspace) != LADON_OK) return 0;
  return board::instructions() - start;
}

// Returns true if each element of `streamed` differs from the same element of `whole` by at most largest_difference.
// Returns false if a difference is NaN.
bool same() {
  float most = 0;
  for (std::size_t i = 0; i < frames * model; ++i) {
    const float difference = streamed[i] - whole[i], size = difference < 0 ? -difference : difference;
    if (!(size <= most)) most = size;
  }
  print_row("largest difference, in billionths", static_cast<std::uint64_t>(most * 1e9f));
  return most <= largest_difference;
}

}  // namespace

int main() {
  for (Layer& layer : layers) fill({reinterpret_cast<float*>(&layer), sizeof layer / sizeof(float)}, 0.3f);
  fill(x, 2);
  const std::uint64_t for_a_frame = stream(), for_all = run_whole();
  print_row("frames", frames);
  print_row("instructions for a frame of the stream", for_a_frame);
  print_row("instructions for all frames in one call", for_all);
  print_row("bytes of cache and workspace for the stream", sizeof cache + sizeof frame_workspace);
  print_row("bytes of workspace for all frames in one call", sizeof whole_workspace);
  return for_a_frame != 0 && for_all != 0 && same() ? 0 : 1;
}
