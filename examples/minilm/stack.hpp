// The seam between the program and the compiled encoders: one for each capacity, for every size of Ladon's is a
// template argument.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>

#include "checkpoint.hpp"

namespace minilm {

// Tokens. The smallest that fits a text runs it. CMake has the list, and makes a file of stack.cpp.in for each.
inline constexpr auto capacities = std::to_array<std::size_t>({MINILM_CAPACITIES});
static_assert(capacities.back() == max_tokens);

// For each layer where its attention weights go, [head_count][capacity][capacity], or null.
using AttentionPointers = std::array<float*, layer_count>;

class Stack {
 public:
  virtual ~Stack() = default;

  // All layers over the first `tokens` rows of x [capacity][model_width], into those of y.
  virtual void run(const float* x, float* y, std::size_t tokens) noexcept = 0;
  virtual void run(const float* x, float* y, std::size_t tokens, const AttentionPointers& attention) noexcept = 0;

  // One layer alone: to find the first that is off.
  virtual void run_layer(std::size_t layer, const float* x, float* y, std::size_t tokens) noexcept = 0;
};

// The weights stay where `layers` points.
template <std::size_t Capacity>
std::unique_ptr<Stack> make_stack(const Layers& layers);
template <std::size_t Capacity>
std::unique_ptr<Stack> make_stack(const LayersOf<Int8Dense>& layers);

// Several texts, one behind the other, in one run: every weight is read once for all of them, and no lane waits for a
// text as long as itself.
class SharedStack {
 public:
  // Bit k % 32 of word k / 32 of a row: whether that token may see token k.
  using Sight = std::array<std::array<std::uint32_t, max_tokens / 32>, max_tokens>;

  virtual ~SharedStack() = default;

  // All layers over the first `tokens` rows of x [max_tokens][model_width], into those of y.
  virtual void run(const float* x, float* y, std::size_t tokens, const Sight& sight) noexcept = 0;
};

std::unique_ptr<SharedStack> make_shared_stack(const Layers& layers);
std::unique_ptr<SharedStack> make_shared_stack(const LayersOf<Int8Dense>& layers);

}  // namespace minilm
