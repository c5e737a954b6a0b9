// SPDX-License-Identifier: Apache-2.0
// Decoder layers and stacks ("Attention Is All You Need", arXiv 1706.03762, section 3.1). A layer has three sublayers:
// self-attention, attention to a memory (cross-attention), and a feed-forward network. The memory is the output of an
// encoder, [Model::memory][model]. All layers attend to the same memory.
//     post-LN:  x = norm1(x + self(x));  x = norm2(x + cross(x, memory));  x = norm3(x + feed_forward(x))
//     pre-LN:   x = x + self(norm1(x));  x = x + cross(norm2(x), memory);  x = x + feed_forward(norm3(x))
//
// NormOrder::both adds norms of the sublayers' outputs: output_norm1, output_norm2 and output_norm3 (T5Gemma).
//
// Implementation: detail/layer/decoder_steps.hpp and detail/layer/stack_steps.hpp.
#pragma once

#include <ladon/detail/config/quiet_begin.hpp>

#include <array>
#include <cstddef>
#include <type_traits>

#include <ladon/checks.hpp>
#include <ladon/detail/attention/capture.hpp>
#include <ladon/detail/layer/decoder_steps.hpp>
#include <ladon/detail/layer/model_types.hpp>
#include <ladon/detail/layer/stack_steps.hpp>
#include <ladon/detail/panel/vectors_for.hpp>
#include <ladon/key_value_cache.hpp>
#include <ladon/run_options.hpp>
#include <ladon/stack.hpp>
#include <ladon/threads.hpp>
#include <ladon/views.hpp>

namespace LADON_NAMESPACE {

// Members that PyTorch's TransformerDecoderLayer has, too, have its names, except self_attention (self_attn) and
// cross_attention (multihead_attn). Members that the model does not use are empty, as in EncoderLayerWeights.
template <Model M, class Layout>
struct DecoderLayerWeights {
  using Linears = FeedForwardLinears<M, Layout>;
  typename Layout::template Weights<M.shape()> self_attention;
  typename Layout::template Weights<M.shape()> cross_attention;
  LADON_NO_UNIQUE_ADDRESS typename Linears::Gate gate{};
  typename Linears::First linear1;
  typename Linears::Second linear2;
  typename NormOf<M>::Type norm1;
  typename NormOf<M>::Type norm2;
  typename NormOf<M>::FeedForward norm3;
  LADON_NO_UNIQUE_ADDRESS typename OptionalParts<M>::OutputNorm1 output_norm1{};
  LADON_NO_UNIQUE_ADDRESS typename OptionalParts<M>::OutputNormOfMemory output_norm2{};
  LADON_NO_UNIQUE_ADDRESS typename OptionalParts<M>::OutputNorm2 output_norm3{};
  LADON_NO_UNIQUE_ADDRESS typename OptionalParts<M>::Activation activation{};
};

// `self` sets the number of queries of both attentions.
template <class Self, class Memory>
struct DecoderOptions {
  Self self{};
  Memory memory{};
};

// `self` [heads][queries][keys] and `memory` [heads][queries][Model::memory] receive a layer's attention weights
// (DecoderMaps), or its results of stage G (DecoderCaptures). A null pointer receives nothing.
struct DecoderMaps {
  float* self = nullptr;
  float* memory = nullptr;
};
template <Stage G>
struct DecoderCaptures {
  Capture<G> self{};
  Capture<G> memory{};
};

#define LADON_MISTAKEN_DECODER_OPTIONS                                                                            \
  "ladon: an option is unknown or misplaced. The options of a decoder are {.self, .memory}, in this order; both " \
  "take the options {.tokens, .queries, .keys, .mask, .sinks, .position}"

// `Masks` is DecoderMasks (model.hpp), or only the mask of self-attention.
template <Model M, class Masks = typename DecoderMasksOf<M>::Type, class Layout = typename LayoutOf<M>::Type,
          class ScoreGiven = typename ScoreOf<M>::Type, position::Policy PositionGiven = typename PositionOf<M>::Type,
          class VectorsGiven = detail::VectorsFor<typename Layout::Precision>>
struct DecoderLayer {
  static_assert(valid<M.sizes()>());
  static constexpr Model model = M;
  static constexpr Shape shape = M.shape();
  static_assert(shape.key_model == shape.model && shape.value_model == shape.model,
                "ladon: a decoder's keys and values come from tokens as wide as the model, and so does its memory");
  static_assert(model.memory > 0, "ladon: a decoder needs a memory of at least one token");
  static_assert(model.feed_forward > 0, "ladon: a decoder layer needs the hidden width of its feed-forward network");
  static_assert(model.norm != NormOrder::output, "ladon: a decoder layer has NormOrder::post, pre or both");
  static_assert(model.residual == Residual::sequential, "ladon: a decoder layer has Residual::sequential");
  static_assert(!model.layer_scale, "ladon: a decoder layer has no layer scale");
  static constexpr bool norms_each_head = Layout::Norms::kind.over != HeadNorm::all;
  static_assert(norms_each_head, "ladon: a decoder with a memory has no norm of queries and keys over all heads");
  static_assert(!model.layer_bias, "ladon: a decoder layer has no attention bias of its own");
  static constexpr Shape cross = memory_shape<shape, M.memory>();
  static_assert(valid<cross>());
  using SelfMask = typename detail::SplitMasks<M, Masks>::SelfMask;
  using MemoryMask = typename detail::SplitMasks<M, Masks>::MemoryMask;
  using Score = ScoreGiven;
  using Position = typename detail::PositionOfKinds<M, SelfMask, PositionGiven>::OfLayer;
  using Vectors = VectorsGiven;
  using Precision = typename Layout::Precision;

  using Weights = DecoderLayerWeights<M.weights_only(), Layout>;
  using SelfAttention = detail::AttentionTypes<shape, decltype(Weights::self_attention), Score, Position, Vectors>;
  using CrossAttention =
      detail::AttentionTypes<cross, decltype(Weights::cross_attention), Score, position::Unrotated, Vectors>;
  using Shared = detail::DecoderShared<DecoderLayer>;
  using Scratch = detail::DecoderScratch<DecoderLayer, HeadScratch<shape, Vectors>, HeadScratch<cross, Vectors>>;
  using Workspace = ladon::Workspace<Shared, Scratch>;
  template <std::size_t Threads>
  using TeamWorkspace = ladon::TeamWorkspace<Shared, Scratch, Threads>;
  // The workspaces of `project_memory` and of `extend`.
  using MemoryWorkspace = KeyWorkspace<cross, Vectors, Precision>;
  using ExtendShared = detail::LayerPanels<DecoderLayer>;
  using ExtendScratch =
      detail::DecoderScratch<DecoderLayer, CachedScratch<shape, Vectors>, CachedScratch<cross, Vectors>>;
  using CachedWorkspace = ladon::Workspace<ExtendShared, ExtendScratch>;
  template <std::size_t Threads>
  using CachedTeamWorkspace = ladon::TeamWorkspace<ExtendShared, ExtendScratch, Threads>;
  // The caches of the text's tokens, and of the memory.
  using Cache = CacheOf<shape, SelfMask, Vectors>;
  using MemoryCache = CacheOf<cross, mask::Unmasked, Vectors>;
  using SelfOptions =
      RunOptions<shape, SelfMask, Score, typename detail::PositionOfKinds<M, SelfMask, PositionGiven>::OfStack>;
  using MemoryOptions = RunOptions<cross, MemoryMask, Score, position::Unrotated>;
  using Options = DecoderOptions<SelfOptions, MemoryOptions>;
  using Maps = DecoderMaps;
  using MapPointer = DecoderMaps;
  template <Stage G>
  using CapturePointer = DecoderCaptures<G>;
  using Input = MatrixView<const float, shape.queries, shape.model>;
  using MemoryInput = MatrixView<const float, M.memory, shape.model>;
  using Output = MatrixView<float, shape.queries, shape.model>;

  // Phase 0 of a call computes the input of the attention (threads.hpp). A layer has four more phases: self-attention,
  // the steps between the attentions, the attention to the memory, and the remaining steps.
  static constexpr std::size_t layer_phases = 4, phases = 1 + layer_phases;
  static constexpr std::size_t parts(std::size_t phase) noexcept {
    return detail::parts_of_phase<cross, Vectors>(phase);
  }

  // Computes `y` [queries][model] from `x` [queries][model] and the first options.memory.keys tokens of `memory`, like
  // MultiHeadAttention::run. `maps` is DecoderMaps or DecoderCaptures.
  template <detail::MemoryOf<Shared, Scratch> Memory, class MapsType = detail::NoCapture>
  static constexpr void run(Input x, MemoryInput memory, const Weights& weights, Output y, Memory&& scratch,
                            const Options& options = {}, const MapsType& maps = {}) noexcept {
    expect_run();
    detail::StackSteps<DecoderLayer, 1>::run(&weights, detail::NoNorm{}, {x.data, y.data, memory.data}, options,
                                             scratch, detail::no_caches, [&](std::size_t) { return captures(maps); });
  }

  // Replaces the content of `cache` by the keys and values of the first options.memory.keys tokens of `memory`.
  static constexpr void project_memory(MemoryInput memory, const Weights& weights, MemoryCache& cache,
                                       MemoryWorkspace& workspace, const Options& options = {}) noexcept {
    project(memory, &weights, &cache, 1, workspace, options);
  }

  // Computes `y` [tokens][model] from `x` [tokens][model], the next tokens of a text, like MultiHeadAttention::extend.
  // `memory` holds what project_memory has stored. For the mask of the memory, token number t of the text has the
  // position t + Model::memory - shape.keys, unless options.memory.mask sets an offset.
  template <detail::MemoryOf<ExtendShared, ExtendScratch> Memory, class MapsType = detail::NoCapture>
  static constexpr void extend(Input x, Cache& cache, const MemoryCache& memory, const Weights& weights, Output y,
                               Memory&& scratch, const Options& options = {}, const MapsType& maps = {}) noexcept {
    detail::expect_room<shape, SelfMask, Cache>();
    detail::StackSteps<DecoderLayer, 1>::run(
        &weights, detail::NoNorm{}, {x.data, y.data}, options, scratch,
        [&](std::size_t) { return detail::DecoderCaches<Cache, MemoryCache>{cache, memory}; },
        [&](std::size_t) { return captures(maps); }, cache, memory);
  }

  LADON_REJECT_MISTAKES(LADON_MISTAKEN_DECODER_OPTIONS, run, "x, memory, weights, y, workspace, options, maps", Input,
                        MemoryInput, const Weights&, Output, detail::AnyMemory<Shared, Scratch>);
  LADON_REJECT_MISTAKES(LADON_MISTAKEN_DECODER_OPTIONS, extend,
                        "x, cache, memory, weights, y, cached workspace, options, maps", Input, Cache&,
                        const MemoryCache&, const Weights&, Output, detail::AnyMemory<ExtendShared, ExtendScratch>);

  // The members from here on are for stacks (stack.hpp).
  template <class Packs>
  using Steps = detail::DecoderSteps<DecoderLayer, Packs>;
  static constexpr const auto& own(const Options& options) noexcept { return options.self; }
  static constexpr decltype(auto) options_of(const Options& options, std::size_t layer) noexcept {
    if constexpr (M.kinds.count == 0) {
      return (options);
    } else {
      const auto self = detail::options_of_kind<M, Position>(options.self, layer);
      return DecoderOptions<std::remove_const_t<decltype(self)>, MemoryOptions>{self, options.memory};
    }
  }
  static constexpr void expect_run() noexcept {
    static_assert(
        shape.queries == shape.keys,
        "ladon: a decoder attends to itself, so it has as many keys as queries. The memory has a separate length. "
        "If keys is the capacity of a cache, call extend");
  }
  static constexpr detail::LayerLengths lengths(const Options& options, detail::NoCaches) noexcept {
    const Lengths self = options.self.lengths();
    return {self, {self.queries, options.memory.lengths().keys}};
  }
  static constexpr detail::LayerLengths lengths(const Options& options, const auto& caches) noexcept {
    const std::size_t tokens = options.self.lengths().queries, stored = caches.memory.length;
    const std::size_t keys = options.memory.lengths().keys;
    const std::size_t active = options.memory.keys == all && options.memory.tokens == all ? stored : keys;
    LADON_EXPECTS(active <= stored, "ladon: more keys than the cache holds", options.memory.caller,
                  {{"options.memory.keys", active}, {"memory.length", stored}});
    return {{tokens, tokens}, {tokens, active}};
  }
  static constexpr void project(MemoryInput memory, const Weights* layers, MemoryCache* caches, std::size_t count,
                                MemoryWorkspace& workspace, const Options& options) noexcept {
    const std::size_t active = options.memory.lengths().keys;
    detail::expect_memory(detail::caller_of(options.memory), {{}, {}, {{memory.data, active * shape.model}}}, *caches,
                          workspace);
    detail::vec::with_packs<Vectors>([&]<class Packs>(Packs) {
      using Cross = typename Steps<Packs>::CrossAttention;
      float* const panels = workspace.context.data;
      Cross::template context_to_panels<shape.model>(memory.data, active, panels, workspace.context_input);
      const auto context = workspace.context_input.view(panels);
      for (std::size_t i = 0; i < count; ++i) {
        const auto& w = layers[i].cross_attention;
        Cross::fill_keys(context, w, active, position::Unrotated::Data{}, caches[i], workspace.projected.data);
        Cross::fill_values(context, w, active, caches[i], workspace.projected.data);
      }
    });
  }
  static constexpr auto captures(detail::NoCapture none) noexcept { return detail::CapturesOfDecoder{none, none}; }
  static constexpr auto captures(const auto& maps) noexcept {
    return detail::CapturesOfDecoder{detail::capture<shape>(maps.self), detail::capture<cross>(maps.memory)};
  }
};

// Has the functions of DecoderLayer.
template <Model M, class Masks = typename DecoderMasksOf<M>::Type, class Layout = typename LayoutOf<M>::Type,
          class Score = typename ScoreOf<M>::Type, position::Policy Position = typename PositionOf<M>::Type,
          class Vectors = detail::VectorsFor<typename Layout::Precision>>
struct Decoder : Stack<DecoderLayer<M.one_layer(), Masks, Layout, Score, Position, Vectors>, M.layers, M.final_norm> {
  static constexpr Model model = M;
  using Base = Stack<DecoderLayer<M.one_layer(), Masks, Layout, Score, Position, Vectors>, M.layers, M.final_norm>;
  using typename Base::Caches, typename Base::Input, typename Base::Layer, typename Base::Options,
      typename Base::Output, typename Base::Weights;
  using MemoryWorkspace = typename Layer::MemoryWorkspace;
  using MemoryCaches = std::array<typename Layer::MemoryCache, M.layers>;
  using MemoryInput = typename Layer::MemoryInput;

  template <detail::MemoryOf<typename Base::Shared, typename Base::Scratch> Memory,
            detail::MapsOf<M.layers> MapsType = detail::NoCapture>
  static constexpr void run(Input x, MemoryInput memory, const Weights& weights, Output y, Memory&& scratch,
                            const Options& options = {}, const MapsType& maps = {}) noexcept {
    Layer::expect_run();
    Base::Steps::run(weights.layers.data(), weights.norm, {x.data, y.data, memory.data}, options, scratch,
                     detail::no_caches, Base::captures_of(maps));
  }

  static constexpr void project_memory(MemoryInput memory, const Weights& weights, MemoryCaches& caches,
                                       MemoryWorkspace& workspace, const Options& options = {}) noexcept {
    Layer::project(memory, weights.layers.data(), caches.data(), M.layers, workspace, options);
  }

  template <detail::MemoryOf<typename Base::ExtendShared, typename Base::ExtendScratch> Memory,
            detail::MapsOf<M.layers> MapsType = detail::NoCapture>
  static constexpr void extend(Input x, Caches& caches, const MemoryCaches& memory, const Weights& weights, Output y,
                               Memory&& scratch, const Options& options = {}, const MapsType& maps = {}) noexcept {
    detail::expect_room<Layer::shape, typename Layer::SelfMask, typename Layer::Cache>();
    detail::expect_room_of_kinds<Layer>();
    const auto wrap = [&]<class Cache>(Cache& cache, std::size_t i) {
      return detail::DecoderCaches<Cache, typename Layer::MemoryCache>{cache, memory[i]};
    };
    Base::Steps::run(weights.layers.data(), weights.norm, {x.data, y.data}, options, scratch,
                     detail::caches_of_layers<Layer>(caches, wrap), Base::captures_of(maps), caches, memory);
  }

  LADON_REJECT_MISTAKES(LADON_MISTAKEN_DECODER_OPTIONS, run, "x, memory, weights, y, workspace, options, maps", Input,
                        MemoryInput, const Weights&, Output,
                        detail::AnyMemory<typename Base::Shared, typename Base::Scratch>);
  LADON_REJECT_MISTAKES(LADON_MISTAKEN_DECODER_OPTIONS, extend,
                        "x, caches, memory, weights, y, cached workspace, options, maps", Input, Caches&,
                        const MemoryCaches&, const Weights&, Output,
                        detail::AnyMemory<typename Base::ExtendShared, typename Base::ExtendScratch>);
};

}  // namespace LADON_NAMESPACE
#include <ladon/detail/config/quiet_end.hpp>
