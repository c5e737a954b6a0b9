// SPDX-License-Identifier: Apache-2.0
// Optional additional outputs of a run: the attention weights, or the scores before the softmax.
//
// Implementation: detail/attention/capture.hpp.
#pragma once

#include <cstddef>

#include <ladon/shape.hpp>
#include <ladon/views.hpp>

namespace LADON_NAMESPACE {

// Receives the attention weights: [heads][queries][keys], row-major. The weight is 0 if the mask hides the key from the
// query, or if the key is inactive. Rows of inactive queries stay unchanged. If the score of a visible key is NaN, all
// weights of the query are NaN or 0.
template <Shape S>
using AttentionMap = TensorView<float, S.heads, S.queries, S.keys>;

// The stages from scores to attention weights. Captured scores are in natural units: the weight of a key with the score
// s is proportional to e^s. The values are those of qk_matmul_output_mode of the ONNX operator Attention since pull
// request 7913.
enum class Stage {
  scaled,   // scale * q . k for every active key, visible or hidden
  capped,   // after the softcap, before the mask
  masked,   // after the mask: -inf if the mask hides the key from the query
  weights,  // after the softmax: the same numbers as in an AttentionMap
};

// Receives the result of stage G: [heads][queries][keys], row-major. For inactive keys, the result is -inf at the stage
// `masked`, and 0 at every other stage. Rows of inactive queries stay unchanged.
template <Stage G>
struct Capture {
  float* data;
};

}  // namespace LADON_NAMESPACE
