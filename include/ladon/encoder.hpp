// SPDX-License-Identifier: Apache-2.0
// Encoder layers and stacks ("Attention Is All You Need", arXiv 1706.03762, section 3.1). A layer has two sublayers:
// attention and a feed-forward network. Each sublayer has a residual connection and a norm.
//     post-LN:  x = norm1(x + attend(x));  x = norm2(x + feed_forward(x))
//     pre-LN:   x = x + attend(norm1(x));  x = x + feed_forward(norm2(x))
//
// NormOrder and Residual (model.hpp) list other forms.
//
// Implementation: detail/layer/encoder_steps.hpp and detail/layer/stack_steps.hpp.
#pragma once

#include <ladon/detail/config/quiet_begin.hpp>

#include <cstddef>

#include <ladon/detail/attention/capture.hpp>
#include <ladon/detail/layer/encoder_steps.hpp>
#include <ladon/detail/layer/model_types.hpp>
#include <ladon/detail/layer/stack_steps.hpp>
#include <ladon/detail/panel/vectors_for.hpp>
#include <ladon/key_value_cache.hpp>
#include <ladon/run_options.hpp>
#include <ladon/stack.hpp>
#include <ladon/threads.hpp>
#include <ladon/views.hpp>

namespace LADON_NAMESPACE {

// Members that PyTorch's TransformerEncoderLayer has, too, have its names, except `attention` (self_attn). Members that
// the model does not use are empty: `gate` without Model::gated, output_norm1 and output_norm2 without NormOrder::both,
// scale1 and scale2 without Model::layer_scale, `activation` without Activation::xielu, attention_bias without
// Model::layer_bias, and norm2 with Residual::parallel_one_norm.
template <Model M, class Layout>
struct EncoderLayerWeights {
  using Linears = FeedForwardLinears<M, Layout>;
  typename Layout::template Weights<M.shape().with_one_token()> attention;
  LADON_NO_UNIQUE_ADDRESS typename Linears::Gate gate{};
  typename Linears::First linear1;
  typename Linears::Second linear2;
  typename NormOf<M>::Type norm1;
  LADON_NO_UNIQUE_ADDRESS typename OptionalParts<M>::Norm2 norm2{};
  LADON_NO_UNIQUE_ADDRESS typename OptionalParts<M>::OutputNorm1 output_norm1{};
  LADON_NO_UNIQUE_ADDRESS typename OptionalParts<M>::OutputNorm2 output_norm2{};
  LADON_NO_UNIQUE_ADDRESS typename OptionalParts<M>::Scale1 scale1{};
  LADON_NO_UNIQUE_ADDRESS typename OptionalParts<M>::Scale2 scale2{};
  LADON_NO_UNIQUE_ADDRESS typename OptionalParts<M>::Activation activation{};
  LADON_NO_UNIQUE_ADDRESS typename OptionalParts<M>::AttentionBias attention_bias{};
};

// A single encoder layer.
template <Model M, mask::Policy Mask = typename MaskOf<M>::Type, class Layout = typename LayoutOf<M>::Type,
          class ScoreGiven = typename ScoreOf<M>::Type, position::Policy PositionGiven = typename PositionOf<M>::Type,
          class VectorsGiven = detail::VectorsFor<typename Layout::Precision>>
struct EncoderLayer {
  static_assert(valid<M.sizes()>());
  static constexpr Model model = M;
  static constexpr Shape shape = M.shape();
  static_assert(shape.key_model == shape.model && shape.value_model == shape.model,
                "ladon: an encoder attends to itself, so keys and values come from tokens as wide as the model");
  static_assert(model.feed_forward > 0, "ladon: an encoder layer needs the hidden width of its feed-forward network");
  static_assert(model.residual == Residual::sequential || model.norm == NormOrder::pre,
                "ladon: a parallel residual connection needs norms before the sublayers: NormOrder::pre");
  static constexpr bool has_norm_to_omit = model.norms_input() || !detail::value_of<M>.has_unnormed_kind();
  static_assert(has_norm_to_omit,
                "ladon: LayerKind::unnormed_attention needs norms before the sublayers: NormOrder::pre or both");
  using Score = ScoreGiven;
  using Position = typename detail::PositionOfKinds<M, Mask, PositionGiven>::OfLayer;
  using Vectors = VectorsGiven;
  using Precision = typename Layout::Precision;

  using Weights = EncoderLayerWeights<M.weights_only(), Layout>;
  using SelfAttention = detail::AttentionTypes<shape, decltype(Weights::attention), Score, Position, Vectors>;
  using Shared = detail::LayerPanels<EncoderLayer>;
  using Scratch = detail::EncoderScratch<EncoderLayer, HeadScratch<shape, Vectors>>;
  using Workspace = ladon::Workspace<Shared, Scratch>;
  template <std::size_t Threads>
  using TeamWorkspace = ladon::TeamWorkspace<Shared, Scratch, Threads>;
  // The memory of `extend`.
  using ExtendShared = Shared;
  using ExtendScratch = detail::EncoderScratch<EncoderLayer, CachedScratch<shape, Vectors>>;
  using CachedWorkspace = ladon::Workspace<ExtendShared, ExtendScratch>;
  template <std::size_t Threads>
  using CachedTeamWorkspace = ladon::TeamWorkspace<ExtendShared, ExtendScratch, Threads>;
  using Cache = CacheOf<shape, Mask, Vectors>;
  using Options = RunOptions<shape, Mask, Score, typename detail::PositionOfKinds<M, Mask, PositionGiven>::OfStack>;
  using Map = AttentionMap<shape>;
  using MapPointer = float*;
  template <Stage G>
  using CapturePointer = Capture<G>;
  using Input = MatrixView<const float, shape.queries, shape.model>;
  using Output = MatrixView<float, shape.queries, shape.model>;

  // Phase 0 of a call computes the input of the attention (threads.hpp). A layer has two more phases: the attention of
  // all heads, and the steps after it.
  static constexpr std::size_t layer_phases = 2, phases = 1 + layer_phases;
  static constexpr std::size_t parts(std::size_t phase) noexcept {
    return detail::parts_of_phase<shape, Vectors>(phase);
  }

  // Computes `y` [queries][model] from `x` [queries][model]. MultiHeadAttention describes all arguments.
  template <detail::MemoryOf<Shared, Scratch> Memory, class MapType = detail::NoCapture>
  static constexpr void run(Input x, const Weights& weights, Output y, Memory&& memory, const Options& options = {},
                            MapType&& map = {}) noexcept {
    expect_run();
    detail::StackSteps<EncoderLayer, 1>::run(&weights, detail::NoNorm{}, {x.data, y.data}, options, memory,
                                             detail::no_caches, [&](std::size_t) { return captures(map); });
  }

  // Computes `y` [tokens][model] from `x` [tokens][model], the next tokens of a text, like MultiHeadAttention::extend.
  template <detail::MemoryOf<ExtendShared, ExtendScratch> Memory, class MapType = detail::NoCapture>
  static constexpr void extend(Input x, Cache& cache, const Weights& weights, Output y, Memory&& memory,
                               const Options& options = {}, MapType&& map = {}) noexcept {
    detail::expect_room<shape, Mask, Cache>();
    detail::StackSteps<EncoderLayer, 1>::run(
        &weights, detail::NoNorm{}, {x.data, y.data}, options, memory,
        [&](std::size_t) { return detail::EncoderCaches<Cache>{cache}; }, [&](std::size_t) { return captures(map); },
        cache);
  }

  LADON_REJECT_MISTAKES(LADON_MISTAKEN_OPTIONS, run, "x, weights, y, workspace, options, map", Input, const Weights&,
                        Output, detail::AnyMemory<Shared, Scratch>);
  LADON_REJECT_MISTAKES(LADON_MISTAKEN_OPTIONS, extend, "x, cache, weights, y, cached workspace, options, map", Input,
                        Cache&, const Weights&, Output, detail::AnyMemory<ExtendShared, ExtendScratch>);

  // The members from here on are for stacks (stack.hpp).
  template <class Packs>
  using Steps = detail::EncoderSteps<EncoderLayer, Packs>;
  // NOLINTNEXTLINE(bugprone-return-const-ref-from-parameter): the argument outlives the result
  static constexpr const Options& own(const Options& options) noexcept { return options; }
  static constexpr decltype(auto) options_of(const Options& options, std::size_t layer) noexcept {
    return detail::options_of_kind<M, Position>(options, layer);
  }
  // `run` itself calls this function, because g++ prints all callers before the message of a static_assert.
  static constexpr void expect_run() noexcept {
    static_assert(shape.queries == shape.keys,
                  "ladon: an encoder attends to itself, so it has as many keys as queries. If keys is the capacity of "
                  "a cache, call extend");
  }
  template <class Caches>
  static constexpr detail::LayerLengths lengths(const Options& options, const Caches&) noexcept {
    const Lengths lengths = options.lengths();
    return {{lengths.queries, Caches::cached ? lengths.queries : lengths.keys}};
  }
  static constexpr auto captures(auto map) noexcept { return detail::capture<shape>(map); }
};

// A stack of M.layers encoder layers.
template <Model M, mask::Policy Mask = typename MaskOf<M>::Type, class Layout = typename LayoutOf<M>::Type,
          class Score = typename ScoreOf<M>::Type, position::Policy Position = typename PositionOf<M>::Type,
          class Vectors = detail::VectorsFor<typename Layout::Precision>>
struct Encoder : Stack<EncoderLayer<M.one_layer(), Mask, Layout, Score, Position, Vectors>, M.layers, M.final_norm> {
  static constexpr Model model = M;
};

}  // namespace LADON_NAMESPACE
#include <ladon/detail/config/quiet_end.hpp>
