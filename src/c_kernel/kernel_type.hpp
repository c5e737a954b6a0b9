// SPDX-License-Identifier: Apache-2.0
// Maps the arguments of ladon_add_kernel to C++ types.
#pragma once

#include <cstddef>
#include <type_traits>

#include <ladon/ladon.hpp>

namespace c_kernel {

// CMake writes the values of the arguments of ladon_add_kernel into NAME_definition.hpp as C++ names. So each of the
// names below is spelled like the value of an argument, for example in_proj.
// NOLINTBEGIN(readability-identifier-naming)

// The values of LAYOUT.
namespace layout {
using in_proj = ladon::layout::InProj;
using separate_qkv = ladon::layout::SeparateQKV;
using per_head = ladon::layout::PerHead;
using in_out = ladon::layout::InOut;
}  // namespace layout

// The values of BIAS: which projections of the attention have biases. `projections` stands for the projections of
// queries, keys and values, and `output` for the output projection.
namespace bias {
template <class Layout>
using all = Layout;
template <class Layout>
using projections = ladon::layout::WithoutOutputBias<Layout>;
template <class Layout>
using output = ladon::layout::WithoutProjectionBias<Layout>;
template <class Layout>
using none = ladon::layout::WithoutBias<Layout>;
}  // namespace bias

// The values of PRECISION. `Bits` is the value of ACTIVATION_BITS. `Rotated` is true if ROTATED is given.
namespace precision {
template <int, bool>
using float32 = ladon::precision::Float32;
template <int, bool>
using bfloat16 = ladon::precision::BFloat16;
template <int Bits, bool Rotated>
using int8 = ladon::precision::Int8<Bits, Rotated>;
}  // namespace precision

// The values of SCALE that are not numbers, and the default by_head_width.
namespace score {
using by_head_width = ladon::score::Scaled;
using by_keys = ladon::score::ScaledByKeys;
using by_model = ladon::score::ScaledByModel;
}  // namespace score

// NOLINTEND(readability-identifier-naming)

// Attention without projections, which has no weights.
template <ladon::Model M, class Mask, class Score, class Position>
struct GivenAttention : ladon::Attention<M, Mask, Score, Position> {
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

// Returns the C++ type of a kernel, as a std::type_identity. `Masks` is ladon::DecoderMasks.
template <Kind K, ladon::Model M, class Masks, class Layout, class Score, class Position>
constexpr auto kernel_type() {
  using Mask = typename Masks::SelfMask;
  if constexpr (K == Kind::given) {
    return std::type_identity<GivenAttention<M, Mask, Score, Position>>{};
  } else if constexpr (K == Kind::attention) {
    return std::type_identity<ladon::MultiHeadAttention<M, Mask, Layout, Score, Position>>{};
  } else if constexpr (K == Kind::stack && M.memory > 0) {
    return std::type_identity<ladon::Decoder<M, Masks, Layout, Score, Position>>{};
  } else if constexpr (M.memory > 0) {
    return std::type_identity<ladon::DecoderLayer<M, Masks, Layout, Score, Position>>{};
  } else if constexpr (K == Kind::stack) {
    return std::type_identity<ladon::Encoder<M, Mask, Layout, Score, Position>>{};
  } else {
    return std::type_identity<ladon::EncoderLayer<M, Mask, Layout, Score, Position>>{};
  }
}

}  // namespace c_kernel
