// A case: a layer of one shape with one mask. Google Benchmark prints and filters its name.
#pragma once

#include <cstddef>
#include <string>

namespace ladon_bench {

struct Case {
  std::string layer;  // attention, encoder_layer
  std::size_t tokens, model, heads;
  std::string mask;                   // full, causal, bits, boolean, additive or alibi; or softcap, a score
  std::size_t threads = 1;            // that share a call
  std::string precision = "float32";  // of the weights: float32, bfloat16 or int8
  std::string name() const {
    return layer + "/" + std::to_string(tokens) + "," + std::to_string(model) + "," + std::to_string(heads) + "/" +
           mask + (precision == "float32" ? "" : "/" + precision);
  }
};

}  // namespace ladon_bench
