// Makes the two layers of a small BERT, with random numbers and the tensor names of Hugging Face's checkpoints. Every
// call of small_bert returns equal numbers.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "named_tensor.hpp"
#include "random.hpp"

namespace ladon_test {

inline std::vector<NamedTensor> small_bert() {
  constexpr std::size_t model = 12, hidden = 20;
  Random random(7);
  std::vector<NamedTensor> tensors;
  const auto linear = [&](const std::string& name, std::size_t out, std::size_t in) {
    tensors.push_back({name + ".weight", {out, in}, random.normals(out * in, 0.3)});
    tensors.push_back({name + ".bias", {out}, random.normals(out, 0.3)});
  };
  const auto norm = [&](const std::string& name) {
    tensors.push_back({name + ".weight", {model}, random.normals(model, 0.1, 1)});
    tensors.push_back({name + ".bias", {model}, random.normals(model, 0.1)});
  };
  for (const std::string layer : {"bert.encoder.layer.0.", "bert.encoder.layer.1."}) {
    for (const std::string part : {"query", "key", "value"}) linear(layer + "attention.self." + part, model, model);
    linear(layer + "attention.output.dense", model, model);
    linear(layer + "intermediate.dense", hidden, model);
    linear(layer + "output.dense", model, hidden);
    norm(layer + "attention.output.LayerNorm");
    norm(layer + "output.LayerNorm");
  }
  return tensors;
}

}  // namespace ladon_test
