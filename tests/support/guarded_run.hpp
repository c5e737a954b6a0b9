// Runs a subject (subject.hpp) with all buffers in guarded memory (guarded.hpp). A task is run with the buffers at both
// edges of their pages, and with and without maps of attention weights. All outputs and the workspace are filled with
// NaN before each run. All runs must give equal bits, and must not change other memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "bound.hpp"
#include "subject.hpp"

namespace ladon_test {

// The bits of poison, a NaN that no computation gives. A result with these bits has not been written.
inline constexpr std::uint32_t poison_bits = 0x7fc0dead;
bool is_poison(float value);
float poison();

using Floats = std::vector<float>;

struct Task {
  Floats x{};
  Floats context{};        // empty: self-attention
  Floats value_context{};  // empty: the values come from `context`
  std::vector<Floats> weights{};
  std::vector<std::uint8_t> may_see{};  // empty: the call gets a null pointer, as for each vector down to `sinks`
  std::vector<std::uint8_t> pairs{};
  std::vector<std::uint32_t> bits{};
  Floats values{}, slopes{}, sinks{};
  Lengths lengths{};
  // The number of elements of x, context, may_see and y that a call with these lengths may access. In one of the runs,
  // each buffer ends after these elements, so that an access behind them is detected.
  std::size_t x_used = 0, context_used = 0, value_context_used = 0, may_see_used = 0, y_used = 0;
  std::size_t y_size = 0;
  bool aliased = false;  // x and y are one array
};

struct Outcome {
  Floats y;
  std::vector<Floats> maps;  // [layers] of [heads][queries][keys]
};

Outcome run_guarded(const Subject& subject, const Task& task);

// Runs a subject with a capture, and returns the scores after the step `stage` (scale, softcap or mask). `expected` is
// the output y of a run without a capture. Checks that the run with the capture writes an equal y.
Floats run_capturing(const Subject& subject, const Task& task, ladon::Stage stage, const Floats& expected);

// The expected elements of an output array. If an element is empty, the call must not write this element.
using Expected = std::vector<std::optional<Real>>;

// Compares each element of `actual` with its expected number, and returns the largest distance (bound.hpp). If the
// result is at most 1, all elements agree. Returns infinity if an unexpected element was written, or an expected
// element was not written.
double worst_distance(std::span<const float> actual, const Expected& expected);

// Returns whether all elements of `a` and `b` have equal bits. Any two NaNs count as equal, except poison, the NaN of
// memory that was not written.
bool same_bits(std::span<const float> a, std::span<const float> b);

}  // namespace ladon_test
