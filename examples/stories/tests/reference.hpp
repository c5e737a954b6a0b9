// The model in plain float64 loops, a token at a time: what Ladon's answers are held against.
#pragma once

#include <array>
#include <vector>

#include "checkpoint.hpp"

namespace stories {

class Reference {
 public:
  explicit Reference(const Checkpoint& checkpoint) : checkpoint_(checkpoint) {}

  void clear() noexcept { layers_ = {}; }

  // Appends a token; the logits of the next, [vocabulary_size].
  [[nodiscard]] std::vector<double> extend(TokenId token);

 private:
  using Numbers = std::vector<double>;

  // What earlier tokens left: of each its keys, turned, and its values, [kv_width].
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
