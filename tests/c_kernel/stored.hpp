// Functions that run kernels with the tensors of a checkpoint, or with stored weights. Include the header of a kernel
// first.
#pragma once

#include <doctest/doctest.h>

#include <cstring>
#include <vector>

#include "named_tensor.hpp"

namespace ladon_test {

template <std::size_t Bytes>
struct alignas(64) Memory {
  unsigned char bytes[Bytes];
};

// Returns the struct of weights with these pointers.
template <class Weights>
Weights weights_at(const std::vector<const void*>& pointers) {
  Weights weights;
  REQUIRE(sizeof(weights) == pointers.size() * sizeof(const void*));
  std::memcpy(&weights, pointers.data(), sizeof(weights));
  return weights;
}

// Returns the struct of weights with pointers to the tensors, which have the order of the struct.
template <class Weights>
Weights weights_of(const std::vector<NamedTensor>& tensors) {
  std::vector<const void*> pointers;
  for (const NamedTensor& tensor : tensors) pointers.push_back(tensor.data.data());
  return weights_at<Weights>(pointers);
}

// Returns y of a run with `weights`.
template <std::size_t WorkspaceBytes, class Weights>
std::vector<float> run_with(ladon_status (*run)(const float*, const Weights*, float*, void*), const Weights& weights,
                            const std::vector<float>& x) {
  static Memory<WorkspaceBytes> workspace;
  std::vector<float> y(x.size());
  REQUIRE(run(x.data(), &weights, y.data(), workspace.bytes) == LADON_OK);
  return y;
}

}  // namespace ladon_test
