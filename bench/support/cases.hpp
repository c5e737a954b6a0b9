// A case is a layer of one shape with one mask. Google Benchmark prints the name of the case, and a filter selects
// cases by their names.
#pragma once

#include <cstddef>
#include <string>

namespace ladon_bench {

struct Case {
  std::string layer;  // attention or encoder_layer
  std::size_t tokens, model, heads;
  std::string mask;                   // full, causal, bits, boolean, additive, alibi, or the score softcap
  std::size_t threads = 1;            // number of threads that compute a call together
  std::string precision = "float32";  // of the weights: float32, bfloat16 or int8
  std::string name() const {
    return layer + "/" + std::to_string(tokens) + "," + std::to_string(model) + "," + std::to_string(heads) + "/" +
           mask + (precision == "float32" ? "" : "/" + precision);
  }
};

}  // namespace ladon_bench
