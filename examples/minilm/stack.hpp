// Declares the interface between the program and the compiled encoders. There is one encoder for each capacity, because
// all sizes are template arguments in Ladon.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>

#include "checkpoint.hpp"

namespace minilm {

// The capacities in tokens. A text is computed by the encoder with the smallest capacity that is large enough.
// examples/minilm/CMakeLists.txt sets the list, and makes a file from stack.cpp.in for each capacity.
inline constexpr auto capacities = std::to_array<std::size_t>({MINILM_CAPACITIES});
static_assert(capacities.back() == max_tokens);

// For each layer, a pointer to the attention weights [head_count][capacity][capacity]. A null pointer stands for a
// layer whose attention weights are not needed.
using AttentionPointers = std::array<float*, layer_count>;

class Stack {
 public:
  virtual ~Stack() = default;

  // Computes all layers for the first `tokens` rows of x [capacity][model_width]. Writes the results to the first
  // `tokens` rows of y.
  virtual void run(const float* x, float* y, std::size_t tokens) noexcept = 0;
  virtual void run(const float* x, float* y, std::size_t tokens, const AttentionPointers& attention) noexcept = 0;

  // Computes only the layer with the number `layer`. A test uses this function to find the first layer with wrong
  // results.
  virtual void run_layer(std::size_t layer, const float* x, float* y, std::size_t tokens) noexcept = 0;
};

// Returns an encoder that reads its weights from the tensors to which `layers` points.
template <std::size_t Capacity>
std::unique_ptr<Stack> make_stack(const Layers& layers);
template <std::size_t Capacity>
std::unique_ptr<Stack> make_stack(const LayersOf<BFloat16Dense>& layers);
template <std::size_t Capacity>
std::unique_ptr<Stack> make_stack(const LayersOf<Int8Dense>& layers);
template <std::size_t Capacity>
std::unique_ptr<Stack> make_stack(const LayersOf<RotatedInt8Dense>& layers);

// Computes several texts in one run. The run reads every weight once for all texts. In `x`, the tokens of a text
// directly follow the tokens of the previous text, so no text is padded to the length of the longest text.
class SharedStack {
 public:
  // The mask of a run. Row i belongs to token i. Bit k % 32 of word k / 32 in row i is 1 if token i may see token k.
  using Sight = std::array<std::array<std::uint32_t, max_tokens / 32>, max_tokens>;

  virtual ~SharedStack() = default;

  // Computes all layers for the first `tokens` rows of x [max_tokens][model_width]. Writes the results to the first
  // `tokens` rows of y.
  virtual void run(const float* x, float* y, std::size_t tokens, const Sight& sight) noexcept = 0;
};

std::unique_ptr<SharedStack> make_shared_stack(const Layers& layers);
std::unique_ptr<SharedStack> make_shared_stack(const LayersOf<BFloat16Dense>& layers);
std::unique_ptr<SharedStack> make_shared_stack(const LayersOf<Int8Dense>& layers);
std::unique_ptr<SharedStack> make_shared_stack(const LayersOf<RotatedInt8Dense>& layers);

}  // namespace minilm
