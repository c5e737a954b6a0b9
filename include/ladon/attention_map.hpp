// What a run can write besides its result: attention weights, or another stage of the scores.
#pragma once

#include <cstddef>

#include <ladon/shape.hpp>
#include <ladon/views.hpp>

namespace ladon::inline LADON_ABI {

// Where the attention weights go: [heads][queries][keys], row-major. Probabilities; 0 where a query may not see a key.
template <Shape S>
using AttentionMap = Tensor<float, S.heads, S.queries, S.keys>;

// What may be captured, in natural units; ONNX's Attention numbers them so (qk_matmul_output_mode).
enum class Stage {
  scaled,   // scale * q . k of every active key, whoever may see it
  capped,   // after softcap
  masked,   // after the mask: -inf where a query may not see a key
  weights,  // after softmax: what an AttentionMap holds
};

// Where one stage goes: [heads][queries][keys]. Keys beyond a run's length are not read: there `scaled` and `capped`
// hold 0, as `weights` does, and `masked` holds -inf.
template <Stage G>
struct Capture {
  float* data;
};

}  // namespace ladon::inline LADON_ABI
