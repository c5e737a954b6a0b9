// SPDX-License-Identifier: Apache-2.0
// One text of any length. Where a short text is faster in narrow panels, it has layers of its own. They have the same
// weights. MiniLM, int8, 8 tokens, with AVX-512: 0.7 of the time.
//
// The functions that `ladon-import` writes call run_text: docs/import.md.
#pragma once

#include <ladon/detail/config/quiet_begin.hpp>

#include <cstddef>
#include <type_traits>

#include <ladon/detail/target/current.hpp>
#include <ladon/encoder.hpp>
#include <ladon/model.hpp>

namespace LADON_NAMESPACE {

// The layers for short texts, of `Stack`, an Encoder of a whole model. DETERMINISTIC has only one kind of layers.
template <class Stack>
struct ShortTexts {
  static constexpr std::size_t tokens = detail::target::Current::short_text_tokens;
  static constexpr bool exist = tokens > 0 && tokens < Stack::shape.queries && !LADON_DETERMINISTIC;
  using Layers = Encoder<Stack::model.with_tokens(exist ? tokens : Stack::shape.queries)>;
};

// The memory of run_text.
template <class Stack>
struct TextWorkspace {
  struct Nothing {};
  typename Stack::Workspace layers;
  LADON_NO_UNIQUE_ADDRESS
  std::conditional_t<ShortTexts<Stack>::exist, typename ShortTexts<Stack>::Layers::Workspace, Nothing> short_layers;
};

// Computes all layers for the rows `x` [options.tokens][model] of one text. Precondition: scores depend on positions
// only through the distance of key and query, or on no positions, and `options` has no table for a mask.
template <class Stack>
constexpr void run_text(const float* x, const typename Stack::Weights& weights, float* y,
                        TextWorkspace<Stack>& workspace, const typename Stack::Options& options) noexcept {
  using Short = ShortTexts<Stack>;
  if constexpr (Short::exist) {
    if (options.tokens <= Short::tokens) {
      typename Short::Layers::Options few;
      few.tokens = options.tokens, few.position = options.position;
      return Short::Layers::run(x, weights, y, workspace.short_layers, few);
    }
  }
  Stack::run(x, weights, y, workspace.layers, options);
}

}  // namespace LADON_NAMESPACE
#include <ladon/detail/config/quiet_end.hpp>
