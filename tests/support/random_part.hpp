// Makes a linear map with random weights, as the oracle reads it and as the library reads it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include <doctest/doctest.h>

#include "guarded.hpp"
#include "guarded_run.hpp"
#include "random.hpp"
#include "weight_views.hpp"
#include "weights.hpp"

namespace ladon_test {

template <class Linear>
struct RandomLinear;

template <std::size_t Out, std::size_t In, ladon::Order O, ladon::Bias B, class Precision>
struct RandomLinear<ladon::Linear<Out, In, O, B, Precision>> {
  oracle::Linear floats, w;     // before and after quantisation
  std::vector<Floats> tensors;  // `view` points to these tensors
  ladon::Linear<Out, In, O, B, Precision> view{};

  explicit RandomLinear(std::uint64_t seed) {
    Random random(seed);
    w = random_linear(random, Out, In);
    if constexpr (B == ladon::Bias::without) w.bias.clear();
    floats = w;
    if constexpr (constexpr int bits = activation_bits<Precision>; bits != 0) quantise(w, bits);
    append_tensors(tensors, w, O);
    std::vector<const float*> pointers;
    for (const Floats& tensor : tensors) pointers.push_back(tensor.data());
    const float* const* next = pointers.data();
    point(view, next);
  }
  RandomLinear(const RandomLinear&) = delete;
  RandomLinear& operator=(const RandomLinear&) = delete;
};

// Calls compute(y) twice, with an array of `count` numbers at each edge of guarded memory. Checks that both calls write
// every number and nothing else. Returns the numbers.
template <class Compute>
Floats run_twice(std::size_t count, Compute compute) {
  Floats results[2];
  for (const Edge edge : {Edge::begin, Edge::end}) {
    const Guarded<float> y(count, edge);
    for (float& value : y.values()) value = poison();
    compute(y.data());
    CHECK(y.intact());
    results[edge == Edge::end].assign(y.values().begin(), y.values().end());
  }
  CHECK(same_bits(results[0], results[1]));
  return results[0];
}

}  // namespace ladon_test
