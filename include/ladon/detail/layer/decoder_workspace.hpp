// SPDX-License-Identifier: Apache-2.0
// The workspace of decoder layers and of stacks of decoder layers. All threads of a call use DecoderShared, and each
// thread has a DecoderScratch.
#pragma once

#include <cstddef>

#include <ladon/detail/layer/workspace.hpp>
#include <ladon/detail/panel/input.hpp>
#include <ladon/detail/panel/panels.hpp>
#include <ladon/detail/panel/workspace.hpp>
#include <ladon/model.hpp>
#include <ladon/shape.hpp>

namespace LADON_NAMESPACE {

// The arrays of a decoder's workspace that all threads share:
//     tokens    the decoder's tokens, with the same arrays as in an encoder layer
//     memory    the encoder's output, in panels
template <Shape S, std::size_t Memory, Model Config, class Vectors, class Precision = precision::Float32>
struct DecoderShared {
  static constexpr detail::PanelLayout keys = detail::ShapeLayout<memory_shape<S, Memory>(), Vectors>::keys;
  LayerPanels<S, Config, Vectors, Precision> tokens;
  Panels<Memory, S.model, keys> memory;
  [[no_unique_address]] detail::LinearInput<Precision, Vectors, Memory, S.model, keys> memory_input;
};

// The arrays of a decoder's workspace that each thread has for itself: `tokens` for all steps with the decoder's
// tokens, and `memory` for the attention to the encoder's output. For a text that grows, AttentionScratch is
// CachedScratch (detail/panel/workspace.hpp).
template <Shape S, std::size_t Memory, Model Config, class Vectors, class Precision = precision::Float32,
          template <Shape, class> class AttentionScratch = HeadScratch>
struct DecoderScratch {
  EncoderScratch<S, Config, Vectors, Precision, AttentionScratch<S, Vectors>> tokens;
  AttentionScratch<memory_shape<S, Memory>(), Vectors> memory;
};

}  // namespace LADON_NAMESPACE
