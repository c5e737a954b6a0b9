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
template <ladon::Shape S, class Mask, class Score, class Position>
struct GivenAttention : ladon::Attention<S, Mask, Score, Position> {
  struct Weights {};
};

// The type in place of NAME_weights if the kernel has no weights.
struct NoWeights {};

// The arguments of ladon_add_kernel that determine which C++ type a kernel has:
//     given   the caller gives queries, keys and values (PROJECTIONS without)
//     memory  number of tokens in the memory of a decoder (MEMORY), or 0
//     layers  number of layers of a stack (LAYERS), or 0
struct Kind {
  bool given = false;
  std::size_t memory = 0;
  std::size_t layers = 0;
};

// Returns the C++ type of a kernel, as a std::type_identity. A kernel is an attention, or, if Config.feed_forward is
// above 0, a layer or a stack. Layers and stacks with a memory are decoders. Layers and stacks without a memory are
// encoders.
template <Kind K, ladon::Shape S, ladon::LayerConfig Config, ladon::FinalNorm Final, class Layout, class Mask,
          class MemoryMask, class Score, class Position>
constexpr auto kernel_type() {
  if constexpr (K.given) {
    return std::type_identity<GivenAttention<S, Mask, Score, Position>>{};
  } else if constexpr (Config.feed_forward == 0) {
    return std::type_identity<ladon::MultiHeadAttention<S, Mask, Layout, Score, Position>>{};
  } else if constexpr (K.memory > 0 && K.layers > 0) {
    return std::type_identity<
        ladon::Decoder<K.layers, S, K.memory, Config, Mask, MemoryMask, Final, Layout, Score, Position>>{};
  } else if constexpr (K.memory > 0) {
    return std::type_identity<ladon::DecoderLayer<S, K.memory, Config, Mask, MemoryMask, Layout, Score, Position>>{};
  } else if constexpr (K.layers > 0) {
    return std::type_identity<ladon::Encoder<K.layers, S, Config, Mask, Final, Layout, Score, Position>>{};
  } else {
    return std::type_identity<ladon::EncoderLayer<S, Config, Mask, Layout, Score, Position>>{};
  }
}

}  // namespace c_kernel
