// SPDX-License-Identifier: Apache-2.0
// Optional additional outputs of a run: the attention weights, or the scores before the softmax.
//
// Implementation: detail/attention/capture.hpp.
#pragma once

#include <cstddef>

#include <ladon/shape.hpp>
#include <ladon/views.hpp>

namespace LADON_NAMESPACE {

// The array of the caller that receives the attention weights: [heads][queries][keys], row-major. Each weight is a
// probability. The weight is 0 if the mask hides the key from the query or if the key is inactive. Rows of inactive
// queries stay unchanged. If the score of a visible key is NaN, all weights of the query are NaN or 0.
template <Shape S>
using AttentionMap = TensorView<float, S.heads, S.queries, S.keys>;

// The stages of the computation that turns scores into attention weights. Captured scores are in natural units: the
// weight of a key with the score s is proportional to e^s. The kernels work with s * log2(e) instead, because they
// compute powers of two.
//
// The enumerators have the values 0 to 3, like the attribute qk_matmul_output_mode of the ONNX operator Attention.
// Before pull request 7913, ONNX had two of the values in the opposite order: 1 meant `masked`, and 2 meant `capped`.
enum class Stage {
  scaled,   // scale * q . k for every active key, visible or hidden
  capped,   // after the softcap, before the mask
  masked,   // after the mask: -inf if the mask hides the key from the query
  weights,  // after the softmax: the same numbers as in an AttentionMap
};

// The array of the caller that receives the result of stage G: [heads][queries][keys], row-major. For inactive keys,
// the array contains -inf if G is `masked`, and 0 if G is any other stage. Rows of inactive queries stay unchanged.
template <Stage G>
struct Capture {
  float* data;
};

}  // namespace LADON_NAMESPACE
