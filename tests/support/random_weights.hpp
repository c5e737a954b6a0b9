// Makes random weights of an attention, a layer or a stack of layers, for tests that compare the results of two calls.
#pragma once

#include <cstddef>
#include <vector>

#include "random.hpp"
#include "weight_views.hpp"

namespace ladon_test {

// Random weights with the standard deviation 0.3. Tensor i begins at pool[23 * i]. Tensors with more than 23 numbers
// overlap the next tensors, but no two tensors are equal.
template <class Weights>
struct RandomWeights {
  std::vector<float> pool = Random(3).normals(2000, 0.3);
  Weights weights{};
  RandomWeights() {
    std::vector<const float*> tensors;
    for (std::size_t i = 0; i < 50; ++i) tensors.push_back(pool.data() + 23 * i);
    const float* const* next = tensors.data();
    if constexpr (requires { weights.layers; }) {
      for (auto& layer : weights.layers) point(layer, next);
    } else {
      point(weights, next);
    }
    if constexpr (requires { weights.norm.weight; }) point(weights.norm, next);
  }
};

}  // namespace ladon_test
