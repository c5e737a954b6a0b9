// Runs a subject under guard: at both edges of its pages, with and without the map, everything it may write filled with
// NaN first. All those runs must give the same bits and leave alone what is not theirs.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "bound.hpp"
#include "subject.hpp"

namespace ladon_test {

// A float that is NaN, and that nobody computes: who finds it knows that nothing was stored here.
inline constexpr std::uint32_t poison_bits = 0x7fc0dead;
bool is_poison(float value);
float poison();

using Floats = std::vector<float>;

struct Task {
  Floats x{};
  Floats context{};        // empty: self-attention
  Floats value_context{};  // empty: values come from where keys do
  std::vector<Floats> weights{};
  std::vector<std::uint8_t> may_see{};  // empty: null; so for the rest of what masks and scores are given
  std::vector<std::uint8_t> pairs{};
  std::vector<std::uint32_t> bits{};
  Floats values{}, slopes{}, sinks{};
  Lengths lengths{};
  // How much of x, context, may_see and y the lengths leave in use: at one edge there is no more of it.
  std::size_t x_used = 0, context_used = 0, value_context_used = 0, may_see_used = 0, y_used = 0;
  std::size_t y_size = 0;
  bool aliased = false;  // y is x itself
};

struct Outcome {
  Floats y;
  std::vector<Floats> maps;  // [layers] of [heads][queries][keys]
};

Outcome run_guarded(const Subject& subject, const Task& task);

// The scores at one stage on their way through a subject that captures them; `expected` is y as it must be then too.
Floats run_capturing(const Subject& subject, const Task& task, ladon::Stage stage, const Floats& expected);

// What a number must be; nothing: it must not have been written.
using Expected = std::vector<std::optional<Real>>;

// The largest distance() of all numbers: at most 1 where they agree. Infinite where something was written that should
// not have been, or the other way round.
double worst_distance(std::span<const float> actual, const Expected& expected);

// Equal to the last bit, where which NaN a NaN is does not count.
bool same_bits(std::span<const float> a, std::span<const float> b);

}  // namespace ladon_test
