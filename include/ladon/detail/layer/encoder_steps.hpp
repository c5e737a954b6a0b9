// The steps of an encoder layer on panels, and the memory that they need; EncoderLayer and Encoder are made of them,
// and decoder layers of the same memory.
#pragma once

#include <cstddef>
#include <type_traits>

#include <ladon/detail/attention/capture.hpp>
#include <ladon/detail/attention/multi_head_steps.hpp>
#include <ladon/detail/layer/sublayers.hpp>
#include <ladon/layer_config.hpp>

namespace ladon::inline LADON_ABI {

// As for attention; pre-LN keeps the normed tokens beside the residual's.
template <Shape S, LayerConfig Config, class Target>
struct EncoderShared {
  using L = detail::PanelLayout<S, Target>;
  struct Nothing {};
  using Normed = Panels<S.queries, S.model, L::queries>;
  Panels<S.queries, S.model, L::queries> x;
  Panels<S.queries, S.concat_width(), L::queries> heads;
  [[no_unique_address]] std::conditional_t<Config.norm == NormOrder::pre, Normed, Nothing> normed;
};

// As for attention, and the hidden layer: one panel of it, or of several panels a part.
template <Shape S, LayerConfig Config, class Target, class AttentionScratch = HeadScratch<S, Target>>
struct EncoderScratch {
  using L = detail::PanelLayout<S, Target>;
  AttentionScratch attention;
  static constexpr detail::FeedForwardPlan plan = detail::feed_forward_plan<S, Config, Target>;
  Panels<L::queries.width(), plan.panels * plan.chunk, L::queries> hidden;
};

template <Shape S, LayerConfig Config, class Target>
using EncoderWorkspace = Workspace<EncoderShared<S, Config, Target>, EncoderScratch<S, Config, Target>>;

namespace detail {

// The steps of a layer on panels, in place: x is shared.x.
template <Shape S, LayerConfig Config, class Layer, class Score, class Position, class Target, class Simd>
struct EncoderSteps {
  using Attention = MultiHeadSteps<S, decltype(Layer::attention), Score, Position, Target, Simd>;
  static constexpr Tiling q = Attention::q;
  using Sublayers = detail::Sublayers<S, Config, Target, Simd>;
  using Shared = EncoderShared<S, Config, Target>;

  // What the heads read, of the first `active` tokens: x itself, or in pre-LN its norm.
  template <class Part = WholeCall>
  static constexpr void norm_input(const Layer& w, std::size_t active, Shared& shared, Part part = {}) noexcept {
    if constexpr (Config.norm == NormOrder::pre) {
      Sublayers::norm_all(w.norm1, shared.x.data, active, shared.normed.data, part);
    }
  }

  template <class Options, class CaptureOf, class Part>
  static constexpr void attend(const Layer& w, Lengths lengths, const Options& options, Shared& shared,
                               EncoderScratch<S, Config, Target>& scratch, CaptureOf capture_of, Part part) noexcept {
    const float* const in = input(shared);
    Attention::attend_layer(HeadsCall{w.attention, options, lengths, in, shared.heads.data, capture_of}, in,
                            scratch.attention, part);
  }

  // Everything after the heads; each group of panels goes through it by itself.
  template <class Scratch, class Part = WholeCall>
  static constexpr void after_heads(const Layer& w, std::size_t active, Shared& shared, Scratch& scratch,
                                    Part part = {}) noexcept {
    const auto& norm = Config.norm == NormOrder::post ? w.norm1 : w.norm2;
    const auto rest = [&]<std::size_t Packs>(std::size_t first, std::size_t count) {
      float* const heads = shared.heads.data + first * Sublayers::heads_stride;
      float* const x = shared.x.data + first * Sublayers::stride;
      float* const normed = input(shared) + first * Sublayers::stride;  // apart from x in pre-LN only
      Sublayers::template add_attention<Packs>(w.attention.output(), heads, count, x, norm, normed);
      Sublayers::template add_feed_forward<Packs>(w, normed, count, scratch.hidden.data, heads, x, w.norm2);
    };
    for_panels<q, S.queries, Sublayers::plan.panels>(active, rest, part);
  }

  // All of a layer, where what went before is in a cache.
  template <class Options, class Cache, class Workspace>
  static constexpr void extend(const Layer& w, std::size_t tokens, const Options& options, Cache& cache,
                               Workspace& workspace) noexcept {
    Shared& shared = workspace.shared;
    norm_input(w, tokens, shared);
    const HeadsCall call{w.attention,   options,           Lengths{tokens, tokens},
                         input(shared), shared.heads.data, CaptureNothing{}};
    Attention::extend(call, cache, workspace.scratch.attention);
    after_heads(w, tokens, shared, workspace.scratch);
  }

 private:
  static constexpr float* input(Shared& shared) noexcept {
    if constexpr (Config.norm == NormOrder::pre) {
      return shared.normed.data;
    } else {
      return shared.x.data;
    }
  }
};

}  // namespace detail
}  // namespace ladon::inline LADON_ABI
