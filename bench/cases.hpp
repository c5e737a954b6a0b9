// What is measured, under the names that Google Benchmark prints and filters by.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace ladon_bench {

struct Case {
  std::string layer;  // attention, encoder_layer
  std::size_t tokens, model, heads;
  std::string mask;  // full, causal; bits, boolean, additive, alibi; or a score's softcap
  std::string name() const {
    return layer + "/" + std::to_string(tokens) + "," + std::to_string(model) + "," + std::to_string(heads) + "/" +
           mask;
  }
};

// Registers every case with Google Benchmark.
std::vector<Case> register_attention();

}  // namespace ladon_bench
