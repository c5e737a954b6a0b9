// Describes for the oracle how scores are computed from the product of a query and a key: scale, rotary embedding,
// softcap, biases and sinks. One Score describes all heads of an attention.
#pragma once

#include <cstddef>
#include <functional>
#include <vector>

#include "bound.hpp"

namespace ladon_test::oracle {

// Rotary position embedding (RoFormer, arXiv 2104.09864, section 3.2.2). The first `width` numbers of a query or key
// form pairs. At position t, pair i is rotated by the angle t / scaling * base^(-2 i / width).
struct Rotary {
  std::size_t width = 0;  // 0: no rotation
  bool halves = false;    // pair i is (i, i + width / 2), as in GPT-NeoX; otherwise (2 i, 2 i + 1)
  double base = 10000;
  double scaling = 1;
  std::size_t first_query = 0;  // positions of the first query and the first key
  std::size_t first_key = 0;
};

// A function whose result is added to the score before the softmax. The result is not multiplied by log2(e). The result
// -inf hides the key.
using Bias = std::function<Real(std::size_t head, std::size_t query, std::size_t key)>;

struct Score {
  double scale = 1;
  double softcap = 0;  // 0: no softcap; otherwise s becomes softcap * tanh(s / softcap)
  std::vector<Bias> biases{};
  std::vector<float> sinks{};  // [heads]: logits that the sum of the softmax includes (score.hpp); empty: no sinks
  Rotary rotary{};
  // True if the library rounds queries, keys, values and the weights of the softmax to bfloat16
  // (ladon/detail/attention/operands.hpp).
  bool in_pairs = false;
};

}  // namespace ladon_test::oracle
