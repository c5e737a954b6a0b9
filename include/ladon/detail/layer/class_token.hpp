// SPDX-License-Identifier: Apache-2.0
// Computes the last layer of a stack of encoder layers if token 0 is the only active query. Classifiers with a class
// token, such as BERT and KWT-1, call a stack with the option `.queries = 1`. The last layer projects keys and values
// from all tokens, or computes attention without keys and values (skips_keys). All other products of the last layer are
// matrix-vector products for token 0, and attention uses the kernels for a single query. The steps are:
//     take           copies row 0 of x, and in pre-LN row 0 of norm(x), from the panels
//     attend         computes the attention of one query to all tokens
//     after_heads    computes all further steps of the layer, for one row
//
// Without these steps, the last layer would compute a whole panel of up to 32 tokens. For the 12 layers of KWT-1 (99
// tokens, 64 features, 1 head), the steps reduce the time to 98.2% with float32 weights and to 97.8% with int8 weights
// (Zen 4, AVX-512).
#pragma once

#include <cstddef>
#include <type_traits>
#include <utility>

#include <ladon/detail/layer/encoder_steps.hpp>
#include <ladon/detail/layer/workspace.hpp>

namespace LADON_NAMESPACE::detail {

template <Shape S, Model Config, class LayerWeights, class Score, class Position, class Vectors, class Simd>
struct FirstTokenSteps {
  using All = EncoderSteps<S, Config, LayerWeights, Score, Position, Vectors, Simd>;
  static constexpr Shape one = one_query<S>();
  using One = EncoderSteps<one, Config, LayerWeights, Score, Position, Vectors, Simd>;
  using Shared = EncoderShared<S, Config, Vectors, typename All::Precision>;

  // Whether FirstTokenSteps can compute the last layer. In constant evaluation, EncoderSteps computes the last layer
  // instead.
  static constexpr bool usable = has_first_token<S, Vectors> && Simd::lanes > 1;

  // Whether the last layer computes the attention of token 0 without keys and values. Let q be the query of a head, x_t
  // token t, and p_t the attention weight of token t. Wk and Wv project keys and values:
  //     score of token t = q . (Wk x_t) = (Wk^T q) . x_t
  //     output = sum of p_t (Wv x_t) = Wv (sum of p_t x_t)
  //
  // The rightmost formulas need two matrix-vector products for each head, instead of the projections of all tokens. The
  // twelve layers of KWT-1 (99 tokens, 64 features, 1 head) take 99.1% of the time that they take with keys and values
  // (Zen 4, AVX-512). The conditions are:
  // - The weights are float32. There is no matrix-vector product for transposed int8 weights.
  // - The projections of keys and values have no biases.
  // - The position encoding does not change keys.
  // - The tokens have at most 256 features. The kernels for a single query have a sum for each feature on the stack.
  static constexpr bool skips_keys =
      usable && std::is_same_v<typename All::Precision, precision::Float32> &&
      std::is_same_v<decltype(std::declval<LayerWeights>().attention.key(0).bias), NoBias> &&
      std::is_same_v<decltype(std::declval<LayerWeights>().attention.value(0).bias), NoBias> && !Position::rotates &&
      (S.model <= 256);

  // The scratch memory of the feed-forward network for token 0, with the members that EncoderSteps::after_heads uses.
  template <class HiddenInput>
  struct HiddenScratch {
    static constexpr std::size_t panels = 1;
    float* memory;
    HiddenInput& hidden_input;
    constexpr float* hidden() const noexcept { return memory; }
  };

  // Returns the rows of token 0 in the workspace. Precondition: `usable` is true.
  static constexpr auto& shared_of(Shared& shared) noexcept { return shared.first.shared; }

  // Copies token 0 from the panels of `shared` into rows, and converts the input of the query's projection. With
  // several threads, only the thread that has the first panel does so.
  template <class CallShare>
  static constexpr void take(std::size_t tokens, Shared& shared, CallShare share) noexcept {
    if constexpr (usable) {
      const Range panels = share.of(All::q.panels(tokens));
      if constexpr (skips_keys) widen_last_panel(tokens, shared.sublayer_input(), share);
      if (panels.begin > 0 || panels.end == 0) return;
      auto& first = shared_of(shared);
      copy_token(shared.x.data, first.x.data);
      if constexpr (Config.norm == NormOrder::pre) copy_token(shared.normed.data, first.normed.data);
      One::SelfAttention::convert_tokens(first.sublayer_input(), 1, first.input);
    }
  }

  // Computes the attention of all heads of a layer: for all queries, or only for token 0 if `first` is true. Both cases
  // share one copy of the code that projects keys and values, so the machine code is smaller.
  template <class Options, class CaptureOf, class CallShare>
  static constexpr void attend(bool first, const LayerWeights& w, Lengths lengths, const Options& options,
                               Shared& shared, EncoderScratch<S, Config, Vectors, typename All::Precision>& scratch,
                               CaptureOf capture_of, CallShare share) noexcept {
    if constexpr (skips_keys) {
      if (first) return attend_tokens(w, lengths, options, shared, scratch, capture_of, share);
    }
    const auto in = shared.input.view(shared.sublayer_input());
    const HeadsCall call{w.attention, options, lengths, in, shared.heads.data, capture_of};
    const auto attend_group = [&](const auto& bound, const auto& group) {
      if (usable && first) return attend_first(w, lengths, options, shared, scratch, capture_of, bound, group);
      All::SelfAttention::template attend_group<false>(call, bound, group, scratch.attention);
    };
    const bool rounds = All::SelfAttention::uses_pairs && !(usable && first);
    All::SelfAttention::template for_groups<!usable>(call, in, scratch.attention, share, attend_group, rounds);
  }

  // Computes the steps of the layer after the attention of the heads, for token 0.
  template <class Scratch, class CallShare>
  static constexpr void after_heads(const LayerWeights& w, Shared& shared, Scratch& scratch, CallShare share) noexcept {
    HiddenScratch<decltype(shared.first.hidden_input)> hidden{scratch.hidden(), shared.first.hidden_input};
    One::after_heads(w, 1, shared_of(shared), hidden, share);
  }

 private:
  // Gives the last panel the layout of the other panels, in place. The kernels for a single query expect this layout.
  template <class CallShare>
  static constexpr void widen_last_panel(std::size_t tokens, float* panels, CallShare share) noexcept {
    constexpr std::size_t width = All::q.width();
    for_panels<All::q, All::SelfAttention::last_q, S.queries>(
        tokens,
        [&]<PanelLayout P, std::size_t>(std::size_t first, std::size_t) {
          float* const panel = panels + first * S.model * width;
          if constexpr (P.width() != width) {
            for (std::size_t i = S.model; i-- > 0;) {
              for (std::size_t t = P.width(); t-- > 0;) panel[i * width + t] = panel[i * P.width() + t];
            }
          }
        },
        share);
  }

  // Computes the attention of token 0 without keys and values (skips_keys).
  template <class Options, class CaptureOf, class CallShare>
  static LADON_NOINLINE constexpr void attend_tokens(
      const LayerWeights& w, Lengths lengths, const Options& options, Shared& shared,
      EncoderScratch<S, Config, Vectors, typename All::Precision>& scratch, CaptureOf capture_of,
      CallShare share) noexcept {
    constexpr PanelLayout k = All::SelfAttention::k;
    constexpr Shape tokens = Shape{.queries = 1, .keys = S.keys, .model = S.model}.complete();  // keys are tokens
    using KeyPack = typename Simd::template Pack<k.lanes>;
    const BoundQueries bound{options.bind(lengths), options.bottom_right()};
    const float* const panels = shared.sublayer_input();
    const bool finite = !bound.mask.hides_keys || all_finite<KeyPack, k.width(), S.model>(panels, lengths.keys);
    auto& first = shared_of(shared);
    alignas(64) float query[S.head_width], of_token[S.model], mean[S.model];
    const Range groups = share.of(S.kv_heads);
    for (std::size_t h = groups.begin * S.heads_per_group(); h < groups.end * S.heads_per_group(); ++h) {
      const std::size_t g = h / S.heads_per_group();
      matmul<Simd, One::q, 1, S.head_width, S.model>(w.attention.query(h), PanelsView{first.sublayer_input()}, 1,
                                                     Epilogue<1>{query, 0, {All::SelfAttention::query_scale}});
      matmul<Simd, One::q, 1, S.model, S.head_width>(transposed(w.attention.key(g).weight), PanelsView{query}, 1,
                                                     Epilogue<1, Unchanged>{of_token, 0});
      const decltype(capture_of(h, Range{0, 1})) captures[]{capture_of(h, Range{0, 1})};
      const SingleQueries<const float*, 1> head{
          panels, panels, finite, h, {sink_of<Score>(options, h)}, of_token, scratch.attention.scores.data, mean};
      attend_query_of_heads<tokens, Score, Vectors, Simd, One::q>(head, nullptr, lengths.keys, bound.mask, captures);
      matmul<Simd, One::q, 1, S.value_width, S.model>(w.attention.value(g), PanelsView{mean}, 1,
                                                      Epilogue<1, Unchanged>{first.heads.data + h * S.value_width, 0});
    }
  }
  // Returns the transposed matrix, without biases.
  template <class Element, std::size_t RowStride, std::size_t InnerStride>
  static constexpr auto transposed(WeightMatrix<Element, RowStride, InnerStride> w) noexcept {
    return WeightRows<WeightMatrix<Element, InnerStride, RowStride>, NoBias>{{w.data}, {}};
  }

  // Copies token 0 from `panels` into `row`. Token 0 is in lane 0 of the first panel.
  static constexpr void copy_token(const float* panels, float* row) noexcept {
    for (std::size_t i = 0; i < S.model; ++i) row[i] = panels[i * All::q.width()];
  }

  // Computes the attention of token 0 in the query heads of one group.
  template <class Options, class Scratch, class CaptureOf, class Queries, class Group>
  static LADON_NOINLINE constexpr void attend_first(const LayerWeights& w, Lengths lengths, const Options& options,
                                                    Shared& shared, Scratch& scratch, CaptureOf capture_of,
                                                    const Queries& bound, const Group& group) noexcept {
    if constexpr (usable) {
      auto& first = shared_of(shared);
      const auto in = first.input.view(first.sublayer_input());
      One::SelfAttention::template attend_group<false>(
          HeadsCall{w.attention, options, lengths, in, first.heads.data, capture_of}, bound, group, scratch.attention);
    }
  }
};

}  // namespace LADON_NAMESPACE::detail
