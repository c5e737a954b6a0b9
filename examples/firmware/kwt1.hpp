// Declares the encoder of KWT-1, and the weights outside of the encoder. The encoder is a kernel that contains its own
// weights, in float32 or int8. All weights are in flash.
#pragma once

#include <cstddef>

#include "model.hpp"

#if defined(KEYWORDS_INT8)
#include "kwt1_int8.h"
#define KWT1(name) kwt1_int8_##name
#define KWT1_SIZE(name) KWT1_INT8_##name
#else
#include "kwt1_float32.h"
#define KWT1(name) kwt1_float32_##name
#define KWT1_SIZE(name) KWT1_FLOAT32_##name
#endif

extern "C" {
// The tensors of the model that the encoder's kernel does not contain. put_tensors (tensors.cmake) puts them into
// flash.
extern const float kwt1_class_token[], kwt1_position[], kwt1_embed_weight[], kwt1_embed_bias[], kwt1_head_weight[],
    kwt1_head_bias[];
}

namespace kwt1 {

inline const keywords::EmbeddingWeights embedding{.class_token = kwt1_class_token,
                                                  .position = kwt1_position,
                                                  .embed_weight = kwt1_embed_weight,
                                                  .embed_bias = kwt1_embed_bias};
inline const keywords::Head head{.weight = kwt1_head_weight, .bias = kwt1_head_bias};

struct alignas(KWT1_SIZE(WORKSPACE_ALIGN)) Workspace {
  std::byte bytes[KWT1_SIZE(WORKSPACE_BYTES)];
};

// Computes y [model_width], the class token after the last layer, from x [token_count][model_width].
inline ladon_status run(const float* x, float* y, Workspace& workspace) noexcept {
  KWT1(options) options{};
  options.queries = 1;  // the last layer computes only row 0
  return KWT1(run_with)(x, &KWT1(stored_weights), y, workspace.bytes, &options);
}

}  // namespace kwt1
