// SPDX-License-Identifier: Apache-2.0
// Computes one text. On targets where narrow panels are faster, a second, smaller Encoder with the same weights
// computes short texts. With this Encoder, MiniLM (int8, AVX-512) reads 8 tokens in 0.7 of the time.
//
// The functions that `ladon-import` writes call run_text: docs/import.md.
#pragma once

#include <ladon/detail/config/quiet_begin.hpp>

#include <cstddef>
#include <type_traits>

#include <ladon/detail/target/current.hpp>
#include <ladon/encoder.hpp>
#include <ladon/mask/position.hpp>
#include <ladon/model.hpp>

namespace LADON_NAMESPACE {

// `Layers` is an Encoder with the weights of `Stack`, for fewer tokens. It exists only if it computes the same result:
// `Stack` has no types of the caller, no mask, sinks or layer_bias, and no scale by the number of tokens. It does not
// exist in deterministic builds. Nor does it exist for bfloat16 weights that are converted to floats: with these,
// `Stack` is faster, because it computes few tokens as rows (detail/panel/token_rows.hpp).
template <class Stack>
struct ShortTexts {
  static constexpr bool converts_weights =
      Stack::model.precision == PrecisionKind::bfloat16 && !detail::target::Current::multiplies_bfloat16;
  static constexpr std::size_t tokens = converts_weights ? 0 : detail::target::Current::short_text_tokens;
  static constexpr ScoreKind score = Stack::model.score;
  static constexpr bool exist = tokens > 0 && tokens < Stack::shape.queries && !LADON_DETERMINISTIC &&
                                std::is_same_v<Stack, Encoder<Stack::model>> && !Stack::model.layer_bias &&
                                !score.sinks && std::is_same_v<typename Stack::Options::MaskType, mask::Unmasked> &&
                                (score.by != Scale::keys || score.scale != 0);
  using Layers = Encoder<Stack::model.with_tokens(exist ? tokens : Stack::shape.queries)>;
};

// The memory of run_text for short texts, beside Stack::Workspace.
template <class Stack>
struct ShortTextWorkspace {
  struct Nothing {};
  std::conditional_t<ShortTexts<Stack>::exist, typename ShortTexts<Stack>::Layers::Workspace, Nothing> layers;
};

// Computes all layers for the rows `x` [options.tokens][model] of one text.
template <class Stack>
constexpr void run_text(const float* x, const typename Stack::Weights& weights, float* y,
                        typename Stack::Workspace& workspace, ShortTextWorkspace<Stack>& of_short_text,
                        const typename Stack::Options& options) noexcept {
  using Short = ShortTexts<Stack>;
  if constexpr (Short::exist) {
    if (options.tokens <= Short::tokens && options.queries == all && options.keys == all) {
      typename Short::Layers::Options few;
      few.tokens = options.tokens, few.position = options.position;
      if constexpr (requires { options.caller; }) few.caller = options.caller;
      return Short::Layers::run(x, weights, y, of_short_text.layers, few);
    }
  }
  Stack::run(x, weights, y, workspace, options);
}

}  // namespace LADON_NAMESPACE
#include <ladon/detail/config/quiet_end.hpp>
