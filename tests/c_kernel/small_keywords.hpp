// Makes the layers of a small Keyword Transformer, with random numbers and the tensor names of PyTorch. Queries, keys
// and values have no biases.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "named_tensor.hpp"
#include "random.hpp"

namespace ladon_test {

// Returns the tensors in the order of the members of c_keywords_weights.
inline std::vector<NamedTensor> small_keywords() {
  constexpr std::size_t model = 12, hidden = 20;
  Random random(17);
  std::vector<NamedTensor> tensors;
  const auto add = [&](const std::string& name, const std::vector<std::size_t>& shape, double mean = 0) {
    std::size_t size = 1;
    for (const std::size_t extent : shape) size *= extent;
    tensors.push_back({name, shape, random.normals(size, 0.3, mean)});
  };
  for (const std::string layer : {"layers.0.", "layers.1."}) {
    add(layer + "self_attn.in_proj_weight", {3 * model, model});
    add(layer + "self_attn.out_proj.weight", {model, model});
    add(layer + "self_attn.out_proj.bias", {model});
    add(layer + "linear1.weight", {hidden, model});
    add(layer + "linear1.bias", {hidden});
    add(layer + "linear2.weight", {model, hidden});
    add(layer + "linear2.bias", {model});
    for (const std::string norm : {"norm1", "norm2"}) {
      add(layer + norm + ".weight", {model}, 1);
      add(layer + norm + ".bias", {model});
    }
  }
  return tensors;
}

}  // namespace ladon_test
