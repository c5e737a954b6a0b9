// SPDX-License-Identifier: Apache-2.0
// Computes the last layer of a stack of encoder layers if token 0 is the only active query. Classifiers with a class
// token, such as BERT and KWT-1, call a stack with the option `.queries = 1`. The last layer projects keys and values
// from all tokens. All other products of the last layer are matrix-vector products for token 0, and attention uses the
// kernels for a single query. The steps are:
//     take           copies row 0 of x, and in pre-LN row 0 of norm(x), from the panels
//     attend         projects keys and values of all tokens, and computes the attention of one query
//     after_heads    computes all further steps of the layer, for one row
//
// Without these steps, the last layer would compute a whole panel of up to 32 tokens. For the 12 layers of KWT-1 (99
// tokens, 64 features, 1 head), the steps reduce the time to 98.2% with float32 weights and to 97.8% with int8 weights
// (Zen 4, AVX-512).
//
// detail/memory/panels.hpp defines panels.
#pragma once

#include <cstddef>
#include <type_traits>

#include <ladon/detail/layer/encoder_steps.hpp>

namespace ladon::inline LADON_ABI {

// Returns a shape that differs from S only in having a single query.
template <Shape S>
constexpr Shape one_query() noexcept {
  Shape shape = S;
  shape.queries = 1;
  return shape;
}

// Whether a stack of the shape S can compute token 0 alone in its last layer. Shapes with fewer queries than keys are
// excluded, because they are used with a cache. The steps use scratch memory for one panel of queries. The queries and
// scores of all heads that are computed at the same time must fit into this memory.
template <Shape S, class Target>
inline constexpr bool has_first_token = [] {
  if (!Target::takes_first_token || LADON_DETERMINISTIC || S.queries == 1 || S.queries != S.keys) return false;
  using L = detail::PanelLayout<S, Target>;
  constexpr std::size_t together = detail::PanelLayout<one_query<S>(), Target>::heads_together;
  return together <= L::queries.width() && together * L::all_keys <= L::queries.width() * L::block;
}();

// The additional memory that the steps for token 0 need: token 0's rows of x, heads and norm(x), and the converted
// inputs of products.
template <Shape S, LayerConfig Config, class Target, class Precision>
struct FirstToken {
  static constexpr Shape one = one_query<S>();
  static constexpr detail::Tiling row = detail::PanelLayout<one, Target>::queries;
  LayerPanels<one, Config, Target, Precision> shared;
  [[no_unique_address]] detail::LinearInput<Precision, Target, 1, Config.feed_forward, row> hidden_input;
};

// The part of an encoder's workspace that all threads share. Only a stack of layers uses `first`. A single layer has
// the same workspace type, so that one workspace can serve a stack and its layers.
template <Shape S, LayerConfig Config, class Target, class Precision = precision::Float32>
struct EncoderShared : LayerPanels<S, Config, Target, Precision> {
  struct NoFirst {};
  using First = FirstToken<S, Config, Target, Precision>;
  [[no_unique_address]] std::conditional_t<has_first_token<S, Target>, First, NoFirst> first;
};

template <Shape S, LayerConfig Config, class Target, class Precision = precision::Float32>
using EncoderWorkspace =
    Workspace<EncoderShared<S, Config, Target, Precision>, EncoderScratch<S, Config, Target, Precision>>;

namespace detail {

template <Shape S, LayerConfig Config, class Layer, class Score, class Position, class Target, class Simd>
struct FirstTokenSteps {
  using All = EncoderSteps<S, Config, Layer, Score, Position, Target, Simd>;
  static constexpr Shape one = one_query<S>();
  using One = EncoderSteps<one, Config, Layer, Score, Position, Target, Simd>;
  using Shared = EncoderShared<S, Config, Target, typename All::Precision>;

  // Whether FirstTokenSteps can compute the last layer. In constant evaluation, EncoderSteps computes the last layer
  // instead.
  static constexpr bool exist = has_first_token<S, Target> && Simd::lanes > 1;

  // The scratch memory of the feed-forward network for token 0, with the members that EncoderSteps::after_heads uses.
  template <class HiddenInput>
  struct HiddenScratch {
    static constexpr std::size_t panels = 1;
    float* memory;
    HiddenInput& hidden_input;
    constexpr float* hidden() const noexcept { return memory; }
  };

  // Returns the rows of token 0 in the workspace. Precondition: `exist` is true.
  static constexpr auto& shared_of(Shared& shared) noexcept { return shared.first.shared; }

  // Copies token 0 from the panels of `shared` into rows, and converts the input of the query's projection. With
  // several threads, only the thread that has the first panel does so.
  template <class Part>
  static constexpr void take(std::size_t tokens, Shared& shared, Part part) noexcept {
    if constexpr (exist) {
      const Range panels = part.of(All::q.panels(tokens));
      if (panels.begin > 0 || panels.end == 0) return;
      auto& first = shared_of(shared);
      copy_token(shared.x.data, first.x.data);
      if constexpr (Config.norm == NormOrder::pre) copy_token(shared.normed.data, first.normed.data);
      One::Attention::query_input(first.sublayer_input(), 1, first.input);
    }
  }

  // Computes the attention of all heads of a layer: for all queries, or only for token 0 if `first` is true. Both cases
  // share one copy of the code that projects keys and values, so the machine code is smaller.
  template <class Options, class CaptureOf, class Part>
  static constexpr void attend(bool first, const Layer& w, Lengths lengths, const Options& options, Shared& shared,
                               EncoderScratch<S, Config, Target, typename All::Precision>& scratch,
                               CaptureOf capture_of, Part part) noexcept {
    const auto in = shared.input.view(shared.sublayer_input());
    const HeadsCall call{w.attention, options, lengths, in, shared.heads.data, capture_of};
    const auto attend_group = [&](const auto& bound, const auto& group) {
      if (exist && first) return attend_first(w, lengths, options, shared, scratch, capture_of, bound, group);
      All::Attention::template attend_group<false>(call, bound, group, scratch.attention);
    };
    const bool rounds = All::Attention::uses_pairs && !(exist && first);
    All::Attention::template for_groups<!exist>(call, in, scratch.attention, part, attend_group, rounds);
  }

  // Computes the steps of the layer after the attention of the heads, for token 0.
  template <class Scratch, class Part>
  static constexpr void after_heads(const Layer& w, Shared& shared, Scratch& scratch, Part part) noexcept {
    HiddenScratch<decltype(shared.first.hidden_input)> hidden{scratch.hidden(), shared.first.hidden_input};
    One::after_heads(w, 1, shared_of(shared), hidden, part);
  }

 private:
  // Copies token 0 from `panels` into `row`. Token 0 is in lane 0 of the first panel.
  static constexpr void copy_token(const float* panels, float* row) noexcept {
    for (std::size_t i = 0; i < S.model; ++i) row[i] = panels[i * All::q.width()];
  }

  // Computes the attention of token 0 in the query heads of one group.
  template <class Options, class Scratch, class CaptureOf, class Queries, class Group>
  static LADON_NOINLINE constexpr void attend_first(const Layer& w, Lengths lengths, const Options& options,
                                                    Shared& shared, Scratch& scratch, CaptureOf capture_of,
                                                    const Queries& bound, const Group& group) noexcept {
    if constexpr (exist) {
      auto& first = shared_of(shared);
      const auto in = first.input.view(first.sublayer_input());
      One::Attention::template attend_group<false>(
          HeadsCall{w.attention, options, lengths, in, first.heads.data, capture_of}, bound, group, scratch.attention);
    }
  }
};

}  // namespace detail
}  // namespace ladon::inline LADON_ABI
