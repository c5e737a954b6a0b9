// What is measured, under the names that Google Benchmark prints and filters by.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace ladon_bench {

struct Case {
  std::string layer;  // attention, encoder_layer
  std::size_t tokens, model, heads;
  std::string mask;         // full, causal; bits, boolean, additive, alibi; or a score's softcap
  std::size_t threads = 1;  // that make a call together
  std::string name() const {
    return layer + "/" + std::to_string(tokens) + "," + std::to_string(model) + "," + std::to_string(heads) + "/" +
           mask;
  }
};

// All of them: each file adds its own before main begins.
inline std::vector<Case>& cases() {
  static std::vector<Case> all;
  return all;
}

}  // namespace ladon_bench
