// The seam between the program and the compiled encoders: one for each capacity, for every size of Ladon's is a
// template argument.
#pragma once

#include <array>
#include <cstddef>
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

// The weights stay where the checkpoint points.
template <std::size_t Capacity>
std::unique_ptr<Stack> make_stack(const Checkpoint& checkpoint);

}  // namespace minilm
