// Runs a subject under guard: at both edges of its pages, with and without maps. All outputs and the workspace are
// filled with NaN before each run. All runs must give equal bits, and must change no other memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "bound.hpp"
#include "subject.hpp"

namespace ladon_test {

// A NaN that no computation gives. A result with these bits has not been written.
inline constexpr std::uint32_t poison_bits = 0x7fc0dead;
bool is_poison(float value);
float poison();

using Floats = std::vector<float>;

struct Task {
  Floats x{};
  Floats context{};        // empty: self-attention
  Floats value_context{};  // empty: the values come from `context`
  std::vector<Floats> weights{};
  std::vector<std::uint8_t> may_see{};  // empty: a null pointer, also for the members below
  std::vector<std::uint8_t> pairs{};
  std::vector<std::uint32_t> bits{};
  Floats values{}, slopes{}, sinks{};
  Lengths lengths{};
  // The elements of x, context, may_see and y that are in use with these lengths. At one edge, the buffers end there.
  std::size_t x_used = 0, context_used = 0, value_context_used = 0, may_see_used = 0, y_used = 0;
  std::size_t y_size = 0;
  bool aliased = false;  // x and y are one array
};

struct Outcome {
  Floats y;
  std::vector<Floats> maps;  // [layers] of [heads][queries][keys]
};

Outcome run_guarded(const Subject& subject, const Task& task);

// Returns the scores of a subject at one stage. `expected` is y without a capture: y must not change.
Floats run_capturing(const Subject& subject, const Task& task, ladon::Stage stage, const Floats& expected);

// The expected numbers. An element without a value must not be written.
using Expected = std::vector<std::optional<Real>>;

// Returns the largest distance() of all numbers, at most 1 if they agree. Returns infinity if a number was written that
// should not be written, or vice versa.
double worst_distance(std::span<const float> actual, const Expected& expected);

// Returns whether the bits are equal. Any NaN equals any other NaN.
bool same_bits(std::span<const float> a, std::span<const float> b);

}  // namespace ladon_test
