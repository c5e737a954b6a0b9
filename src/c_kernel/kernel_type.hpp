// SPDX-License-Identifier: Apache-2.0
// Maps the model of a kernel to its C++ type.
#pragma once

#include <cstddef>
#include <string_view>
#include <type_traits>

#include <ladon/ladon.hpp>

#include "masks.hpp"

namespace c_kernel::inline LADON_ABI {

// Attention without projections, which has no weights.
template <ladon::Model M>
struct GivenAttention : ladon::Attention<M> {
  struct Weights {};
};

// The type in place of NAME_weights if the kernel has no weights.
struct NoWeights {};

// The kinds of kernels:
//     given       attention of queries, keys and values that the caller gives (PROJECTIONS without)
//     attention   attention with projections
//     layer       an encoder layer, or with M.memory > 0 a decoder layer (FEED_FORWARD)
//     stack       a stack of such layers (LAYERS)
enum class Kind { given, attention, layer, stack };

// Returns the C++ type of a kernel, as a std::type_identity. A decoder is causal only if its model says so.
template <Kind K, ladon::Model M>
constexpr auto kernel_type() {
  using Mask = typename ladon::MaskOf<M>::Type;
  if constexpr (K == Kind::given) {
    return std::type_identity<GivenAttention<M>>{};
  } else if constexpr (K == Kind::attention) {
    return std::type_identity<ladon::MultiHeadAttention<M>>{};
  } else if constexpr (K == Kind::stack && M.memory > 0) {
    return std::type_identity<ladon::Decoder<M, Mask>>{};
  } else if constexpr (M.memory > 0) {
    return std::type_identity<ladon::DecoderLayer<M, Mask>>{};
  } else if constexpr (K == Kind::stack) {
    return std::type_identity<ladon::Encoder<M>>{};
  } else {
    return std::type_identity<ladon::EncoderLayer<M>>{};
  }
}
template <Kind K, ladon::Model M>
using KernelOf = typename decltype(kernel_type<K, M>())::type;

constexpr ladon::Model with_float_weights(ladon::Model model) {
  model.precision = ladon::PrecisionKind::float32;
  return model;
}

// Returns the stage that CAPTURE names. With `none`, which names no stage, the result has no effect.
constexpr ladon::Stage stage_of(std::string_view captured) {
  return captured == "scaled"   ? ladon::Stage::scaled
         : captured == "capped" ? ladon::Stage::capped
         : captured == "masked" ? ladon::Stage::masked
                                : ladon::Stage::weights;
}

// The properties of a kernel that follow from its model.
template <Kind K, ladon::Model M>
struct ModelSettings {
  static constexpr ladon::Model model = M;
  using Masks = c_kernel::Masks<M.mask>;
  using Position = typename ladon::PositionOf<M>::Type;
  // The weights of this kernel with PRECISION float32.
  using FloatWeights = typename KernelOf<K, with_float_weights(M)>::Weights;
  static constexpr bool given = K == Kind::given;  // whether the caller gives queries, keys and values
  static constexpr bool bfloat16 = M.precision == ladon::PrecisionKind::bfloat16;
  static constexpr bool int4 = ladon::detail::has_4_bits(M.precision);
  static constexpr bool rotated = ladon::detail::is_rotated(M.precision);
  static constexpr bool quantised = int4 || rotated || M.precision == ladon::PrecisionKind::int8;
  static constexpr std::size_t feed_forward = M.feed_forward;
  static constexpr std::size_t memory = M.memory;  // number of tokens in the memory of a decoder, or 0
};

}  // namespace c_kernel::inline LADON_ABI
