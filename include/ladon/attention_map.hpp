// Additional outputs of a run: the attention weights, or another stage of the scores.
//
// Implementation: detail/attention/capture.hpp.
#pragma once

#include <cstddef>

#include <ladon/shape.hpp>
#include <ladon/views.hpp>

namespace ladon::inline LADON_ABI {

// The destination of the attention weights: [heads][queries][keys], row-major. A weight is a probability, and 0 where
// the query may not see the key. Rows of queries beyond a run's length stay unchanged.
template <Shape S>
using AttentionMap = TensorView<float, S.heads, S.queries, S.keys>;

// A stage of the scores, in natural units. ONNX's Attention uses the same numbers (qk_matmul_output_mode).
enum class Stage {
  scaled,   // scale * q . k for every active key, visible or hidden
  capped,   // after the softcap
  masked,   // after the mask: -inf where the query may not see the key
  weights,  // after the softmax: the numbers of an AttentionMap
};

// The destination of stage G: [heads][queries][keys], row-major. A run does not read keys beyond its length. For these
// keys, `masked` holds -inf and every other stage holds 0. Rows of queries beyond a run's length stay unchanged.
template <Stage G>
struct Capture {
  float* data;
};

}  // namespace ladon::inline LADON_ABI
