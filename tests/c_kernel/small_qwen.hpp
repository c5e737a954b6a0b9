// Makes the attention of a small Qwen 3, with random numbers and the tensor names of Hugging Face's checkpoints. Every
// call of small_qwen returns equal numbers.
#pragma once

#include <string>
#include <vector>

#include "named_tensor.hpp"
#include "random.hpp"

namespace ladon_test {

inline std::vector<NamedTensor> small_qwen() {
  constexpr std::size_t model = 12, head = 4;
  Random random(11);
  std::vector<NamedTensor> tensors;
  const auto add = [&](const std::string& name, const std::vector<std::size_t>& shape, double mean) {
    const std::size_t size = shape.size() == 1 ? shape[0] : shape[0] * shape[1];
    tensors.push_back({"model.layers.0.self_attn." + name + ".weight", shape, random.normals(size, 0.3, mean)});
  };
  add("q_proj", {model, model}, 0);
  add("k_proj", {head, model}, 0);
  add("v_proj", {head, model}, 0);
  add("o_proj", {model, model}, 0);
  add("q_norm", {head}, 1);
  add("k_norm", {head}, 1);
  return tensors;
}

}  // namespace ladon_test
