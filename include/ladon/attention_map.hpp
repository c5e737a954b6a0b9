// Optional outputs of a run: the attention weights, or the scores at an earlier stage of their computation.
//
// Implementation: detail/attention/capture.hpp.
#pragma once

#include <cstddef>

#include <ladon/shape.hpp>
#include <ladon/views.hpp>

namespace ladon::inline LADON_ABI {

// The destination of the attention weights: [heads][queries][keys], row-major. Each weight is a probability. The weight
// is 0 if the query may not see the key or if the key is not active. Rows of inactive queries stay unchanged.
template <Shape S>
using AttentionMap = TensorView<float, S.heads, S.queries, S.keys>;

// The stages of the computation that turns scores into attention weights. Scores are in natural units: the softmax of a
// score s is proportional to e^s. (Internally, the kernels use exponents of two.)
//
// The enumerators have the numbers of ONNX's Attention (qk_matmul_output_mode). Before its pull request 7913, ONNX
// swapped the numbers of `capped` and `masked`.
enum class Stage {
  scaled,   // scale * q . k for every active key, visible or hidden
  capped,   // after the softcap, before the mask
  masked,   // after the mask: -inf if the query may not see the key
  weights,  // after the softmax: the same numbers as in an AttentionMap
};

// The destination of stage G: [heads][queries][keys], row-major. For keys that are not active, `masked` is -inf and
// every other stage is 0. Rows of inactive queries stay unchanged.
template <Stage G>
struct Capture {
  float* data;
};

}  // namespace ladon::inline LADON_ABI
