// SPDX-License-Identifier: Apache-2.0
// Maps the arguments of ladon_add_kernel to C++ types.
#pragma once

#include <cstddef>

#include <ladon/ladon.hpp>

namespace c_kernel {

// CMake writes the values of the arguments of ladon_add_kernel into NAME_definition.hpp as C++ names, so the names
// below are spelled like these values.
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

// The values of PRECISION. `Bits` is the value of ACTIVATION_BITS.
namespace precision {
template <int>
using float32 = ladon::precision::Float32;
template <int>
using bfloat16 = ladon::precision::BFloat16;
template <int Bits>
using int8 = ladon::precision::Int8<Bits>;
}  // namespace precision

// The values of SCALE that are not numbers, and the default by_head_width.
namespace score {
using by_head_width = ladon::score::Scaled;
using by_keys = ladon::score::ScaledByKeys;
using by_model = ladon::score::ScaledByModel;
}  // namespace score

// NOLINTEND(readability-identifier-naming)

// The C++ type of a kernel: ladon::Encoder if `Layers` is above 0, ladon::EncoderLayer if `Layers` is 0, or
// ladon::MultiHeadAttention if Config.feed_forward is 0, too.
template <std::size_t Layers, ladon::Shape S, ladon::LayerConfig Config, ladon::FinalNorm Final, class Layout,
          class Mask, class Score, class Position>
struct KernelType {
  using Type = ladon::Encoder<Layers, S, Config, Mask, Final, Layout, Score, Position>;
};
template <ladon::Shape S, ladon::LayerConfig Config, ladon::FinalNorm Final, class Layout, class Mask, class Score,
          class Position>
struct KernelType<0, S, Config, Final, Layout, Mask, Score, Position> {
  using Type = ladon::EncoderLayer<S, Config, Mask, Layout, Score, Position>;
};
template <ladon::Shape S, ladon::LayerConfig Config, ladon::FinalNorm Final, class Layout, class Mask, class Score,
          class Position>
  requires(Config.feed_forward == 0)
struct KernelType<0, S, Config, Final, Layout, Mask, Score, Position> {
  using Type = ladon::MultiHeadAttention<S, Mask, Layout, Score, Position>;
};

}  // namespace c_kernel
