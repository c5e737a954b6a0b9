// Computes stories260K in plain float64 loops, one token at a time. Tests compare Ladon's results with this reference.
#pragma once

#include <array>
#include <vector>

#include "checkpoint.hpp"

namespace stories {

class Reference {
 public:
  explicit Reference(const Checkpoint& checkpoint) : checkpoint_(checkpoint) {}

  void clear() noexcept { layers_ = {}; }

  // Appends a token. Returns the logits of the next token, [vocabulary_size].
  [[nodiscard]] std::vector<double> extend(TokenId token);

 private:
  using Numbers = std::vector<double>;

  // For each earlier token, an array [kv_width] of rotated keys, and an array [kv_width] of values.
  struct Past {
    std::vector<Numbers> keys;
    std::vector<Numbers> values;
  };

  static Numbers attend(const LayerTensors& layer, const Numbers& normed, Past& past);
  static Numbers attend_head(const double* query, std::size_t kv_head, const Past& past);

  Checkpoint checkpoint_;
  std::array<Past, layer_count> layers_;
};

}  // namespace stories
