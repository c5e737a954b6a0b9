// Defines functions that run C kernels with the tensors of a checkpoint, or with stored weights. Include the header of
// a kernel before this header, because the kernel's header declares ladon_status.
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

// Returns a weights struct of a C kernel. `pointers` contains the values of the struct's members, in the order of the
// members.
template <class Weights>
Weights weights_at(const std::vector<const void*>& pointers) {
  Weights weights;
  REQUIRE(sizeof(weights) == pointers.size() * sizeof(const void*));
  std::memcpy(&weights, pointers.data(), sizeof(weights));
  return weights;
}

// Returns a weights struct of a C kernel that points to `tensors`. The tensors must have the order of the struct's
// members.
template <class Weights>
Weights weights_of(const std::vector<NamedTensor>& tensors) {
  std::vector<const void*> pointers;
  for (const NamedTensor& tensor : tensors) pointers.push_back(tensor.data.data());
  return weights_at<Weights>(pointers);
}

// Returns the output y of the kernel `run` for the tokens `x`.
template <std::size_t WorkspaceBytes, class Weights>
std::vector<float> run_with(ladon_status (*run)(const float*, const Weights*, float*, void*), const Weights& weights,
                            const std::vector<float>& x) {
  static Memory<WorkspaceBytes> workspace;
  std::vector<float> y(x.size());
  REQUIRE(run(x.data(), &weights, y.data(), workspace.bytes) == LADON_OK);
  return y;
}

}  // namespace ladon_test
