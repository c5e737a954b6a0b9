// SPDX-License-Identifier: Apache-2.0
// One decoder layer ("Attention Is All You Need", arXiv 1706.03762, section 3.1). A layer has three sublayers:
// self-attention, attention to a memory (cross-attention), and a feed-forward network. Each sublayer has a residual
// connection and a norm. The memory is the output of an encoder.
//     post-LN:  x = norm1(x + self(x));  x = norm2(x + cross(x, memory));  x = norm3(x + feed_forward(x))
//     pre-LN:   x = x + self(norm1(x));  x = x + cross(norm2(x), memory);  x = x + feed_forward(norm3(x))
//
// The layer applies no norm to the memory. Like an encoder layer, a decoder layer computes on panels
// (detail/panel/panels.hpp).
//
// Implementation: detail/layer/decoder_steps.hpp.
#pragma once

#include <cstddef>

#include <ladon/attention_map.hpp>
#include <ladon/checks.hpp>
#include <ladon/detail/attention/capture.hpp>
#include <ladon/detail/build/reject.hpp>
#include <ladon/detail/layer/decoder_steps.hpp>
#include <ladon/detail/layer/model_types.hpp>
#include <ladon/detail/panel/pointer_checks.hpp>
#include <ladon/detail/panel/thread_share.hpp>
#include <ladon/key_value_cache.hpp>
#include <ladon/mask.hpp>
#include <ladon/model.hpp>
#include <ladon/options.hpp>
#include <ladon/position.hpp>
#include <ladon/score.hpp>
#include <ladon/shape.hpp>
#include <ladon/threads.hpp>
#include <ladon/views.hpp>
#include <ladon/weights.hpp>

namespace LADON_NAMESPACE {

// The weights of a decoder layer. The linear maps and the norms have the names of PyTorch's TransformerDecoderLayer.
// self_attention is PyTorch's self_attn, and cross_attention is PyTorch's multihead_attn. If Model::gated is true, the
// feed-forward network has an additional linear map, `gate`.
template <Model M, class Layout>
struct DecoderLayerWeights {
  using Linears = FeedForwardLinears<M, Layout>;
  typename Layout::template Weights<M.shape()> self_attention;
  typename Layout::template Weights<M.shape()> cross_attention;
  typename Linears::First linear1;
  typename Linears::Second linear2;
  typename NormOf<M>::Type norm1;
  typename NormOf<M>::Type norm2;
  typename NormOf<M>::Type norm3;
};
template <Model M, class Layout>
  requires(M.gated)
struct DecoderLayerWeights<M, Layout> {
  using Linears = FeedForwardLinears<M, Layout>;
  typename Layout::template Weights<M.shape()> self_attention;
  typename Layout::template Weights<M.shape()> cross_attention;
  typename Linears::First gate;
  typename Linears::First linear1;
  typename Linears::Second linear2;
  typename NormOf<M>::Type norm1;
  typename NormOf<M>::Type norm2;
  typename NormOf<M>::Type norm3;
};

// The options of a run. `self` has the options of self-attention, and `memory` has the options of the attention to the
// memory. Both members are RunOptions: active lengths, and the data of the mask, the score and the position encoding
// (options.hpp).
//
// Both attentions have the same queries. self.queries sets the number of active queries, and memory.queries is ignored.
// The attention to the memory has no position encoding, because the memory's tokens are not tokens of the text.
template <Shape S, std::size_t Memory, class SelfMask, class MemoryMask, class Score,
          position::Policy Position = position::None>
struct DecoderOptions {
  RunOptions<S, SelfMask, Score, Position> self{};
  RunOptions<memory_shape<S, Memory>(), MemoryMask, Score, position::None> memory{};
};

// The arrays of the caller that receive a layer's attention weights: `self` [heads][queries][keys] for self-attention,
// and `memory` [heads][queries][Memory] for the attention to the memory. If a pointer is null, the weights of the
// corresponding attention are not written.
struct DecoderMaps {
  float* self = nullptr;
  float* memory = nullptr;
};

// Like DecoderMaps, for the results of stage G (attention_map.hpp).
template <Stage G>
struct DecoderCaptures {
  Capture<G> self{};
  Capture<G> memory{};
};
// LADON_REJECT_DECODER_OPTIONS(run(...)) declares an overload of `run` that only rejects wrong options. If a caller
// misspells the name of an option, for example, the compiler selects this overload and prints
// LADON_MISTAKEN_DECODER_OPTIONS. For layers that take RunOptions, options.hpp has a similar macro.
#define LADON_MISTAKEN_DECODER_OPTIONS                                                                            \
  "ladon: an option is unknown or misplaced. The options of a decoder are {.self, .memory}, in this order; both " \
  "take the options {.tokens, .queries, .keys, .mask, .sinks, .position}"
#define LADON_REJECT_DECODER_OPTIONS(...) LADON_REJECT(LADON_MISTAKEN_DECODER_OPTIONS) __VA_ARGS__ LADON_REJECTED

// A single decoder layer. The class Decoder computes a stack of layers.
// `Position` is the position encoding of self-attention.
//     run(x, memory, ...)            all tokens of a text at once
//     project_memory(memory, ...)    stores the keys and values of the memory in a cache, for many calls of extend
//     extend(x, cache, memory, ...)  the next tokens of a text, with a memory that project_memory has stored
//     run_phase(phase, share, ...)   one share of one phase of `run`, for several threads (threads.hpp)
//     extend_phase(phase, share, ...)   one share of one phase of `extend`
//
// `Masks` is DecoderMasks, or the mask of self-attention alone.
template <Model M, class Masks = typename DecoderMasksOf<M>::Type, class Layout = typename LayoutOf<M>::Type,
          class Score = typename ScoreOf<M>::Type, position::Policy Position = typename PositionOf<M>::Type,
          class Vectors = detail::vec::NativeVectors>
struct DecoderLayer {
  static_assert(valid<M.sizes()>());
  static constexpr Model model = M;
  static constexpr Shape shape = M.shape();
  static constexpr std::size_t Memory = M.memory;
  using SelfMask = typename detail::SplitMasks<M, Masks>::SelfMask;
  using MemoryMask = typename detail::SplitMasks<M, Masks>::MemoryMask;
  static_assert(shape.key_model == shape.model && shape.value_model == shape.model,
                "ladon: a decoder's keys and values come from tokens as wide as the model, and so does its memory");
  static_assert(Memory > 0, "ladon: a decoder needs a memory of at least one token");
  static_assert(M.feed_forward > 0, "ladon: a decoder layer needs the hidden width of its feed-forward network");
  static constexpr Shape cross = memory_shape<shape, Memory>();
  static_assert(valid<cross>());

  using Weights = DecoderLayerWeights<M.weights_only(), Layout>;
  using Precision = typename Layout::Precision;
  using Shared = DecoderShared<shape, Memory, M, Vectors, Precision>;
  using Scratch = DecoderScratch<shape, Memory, M, Vectors, Precision>;
  using Workspace = ladon::Workspace<Shared, Scratch>;
  template <std::size_t Threads>
  using TeamWorkspace = ladon::TeamWorkspace<Shared, Scratch, Threads>;
  // The workspace of project_memory.
  using MemoryWorkspace = KeyWorkspace<cross, Vectors, Precision>;
  // The workspaces of extend and extend_phase.
  using ExtendShared = LayerPanels<shape, M, Vectors, Precision>;
  using ExtendScratch = DecoderScratch<shape, Memory, M, Vectors, Precision, CachedScratch>;
  using CachedWorkspace = ladon::Workspace<ExtendShared, ExtendScratch>;
  template <std::size_t Threads>
  using CachedTeamWorkspace = ladon::TeamWorkspace<ExtendShared, ExtendScratch, Threads>;
  // Cache holds the keys and values of the text's tokens. MemoryCache holds the keys and values of the memory. Neither
  // type depends on shape.queries. A layer for the prompt and a layer for single tokens can therefore share one cache.
  using Cache = CacheOf<shape, SelfMask, Vectors>;
  using MemoryCache = CacheOf<cross, mask::None, Vectors>;
  using Options = DecoderOptions<shape, Memory, SelfMask, MemoryMask, Score, Position>;
  using Maps = DecoderMaps;
  using Input = MatrixView<const float, shape.queries, shape.model>;
  using MemoryInput = MatrixView<const float, Memory, shape.model>;
  using Output = MatrixView<float, shape.queries, shape.model>;
  template <class Simd>
  using Steps = detail::DecoderSteps<shape, Memory, M, Weights, Score, Position, Vectors, Simd>;

  // How many phases run_phase has:
  //     phase 0   converts `x` and `memory` into panels
  //     phase 1   attention of all heads to the decoder's tokens
  //     phase 2   the steps between the two attentions
  //     phase 3   attention of all heads to the memory
  //     phase 4   the remaining steps; writes `y`
  static constexpr std::size_t phases = 5;
  // Returns the number of parts of a phase (threads.hpp), which is the largest useful number of threads in this phase.
  static constexpr std::size_t parts(std::size_t phase) noexcept {
    return detail::parts_of_phase<cross, Vectors>(phase);
  }

  // Computes `y` [queries][model] from `x` [queries][model] and `memory` [Memory][model].
  //
  // - Lengths: options.self sets how many tokens of `x` are active, and options.memory.keys sets how many tokens of
  //   `memory` are active.
  // - Aliasing: `y` may be the same array as `x`. Apart from this case, no two arguments may overlap.
  // - Workspace: the caller owns the workspace, aligned to 64 bytes. Two concurrent runs need two workspaces.
  // - Errors: `x` must not have more than shape.queries active tokens, and `memory` not more than Memory. Otherwise,
  //   the call breaks a precondition (checks.hpp).
  // - Maps: `maps` is DecoderMaps, or DecoderCaptures<G> for the results of stage G (attention_map.hpp). Without
  //   `maps`, attention weights are not written.
  static constexpr void run(Input x, MemoryInput memory, const Weights& weights, Output y, Workspace& workspace,
                            const Options& options = {}) noexcept {
    compute(detail::WholeCall{}, x, memory, weights, y, workspace.shared, workspace.scratch, options, no_capture);
  }
  static constexpr void run(Input x, MemoryInput memory, const Weights& weights, Output y, Workspace& workspace,
                            const Options& options, const Maps& maps) noexcept {
    compute(detail::WholeCall{}, x, memory, weights, y, workspace.shared, workspace.scratch, options,
            captures_of(maps));
  }
  template <Stage G>
  static constexpr void run(Input x, MemoryInput memory, const Weights& weights, Output y, Workspace& workspace,
                            const Options& options, const DecoderCaptures<G>& maps) noexcept {
    compute(detail::WholeCall{}, x, memory, weights, y, workspace.shared, workspace.scratch, options,
            captures_of(maps));
  }

  // Computes one thread's share of one phase of `run` (threads.hpp). MultiHeadAttention::run_phase describes the rules
  // for threads.
  static constexpr void run_phase(std::size_t phase, Share share, Input x, MemoryInput memory, const Weights& weights,
                                  Output y, Shared& shared, Scratch& scratch, const Options& options = {}) noexcept {
    compute(detail::share_of_phase(detail::caller_of(options.self), phase, phases, share), x, memory, weights, y,
            shared, scratch, options, no_capture);
  }
  static constexpr void run_phase(std::size_t phase, Share share, Input x, MemoryInput memory, const Weights& weights,
                                  Output y, Shared& shared, Scratch& scratch, const Options& options,
                                  const Maps& maps) noexcept {
    compute(detail::share_of_phase(detail::caller_of(options.self), phase, phases, share), x, memory, weights, y,
            shared, scratch, options, captures_of(maps));
  }
  template <Stage G>
  static constexpr void run_phase(std::size_t phase, Share share, Input x, MemoryInput memory, const Weights& weights,
                                  Output y, Shared& shared, Scratch& scratch, const Options& options,
                                  const DecoderCaptures<G>& maps) noexcept {
    compute(detail::share_of_phase(detail::caller_of(options.self), phase, phases, share), x, memory, weights, y,
            shared, scratch, options, captures_of(maps));
  }

  // Projects the keys and values of the first options.memory.keys tokens of `memory` [Memory][model], and stores the
  // keys and values in `cache`. The earlier content of the cache is lost.
  static constexpr void project_memory(MemoryInput memory, const Weights& weights, MemoryCache& cache,
                                       MemoryWorkspace& workspace, const Options& options = {}) noexcept {
    const std::size_t active = options.memory.lengths().keys;
    detail::expect_memory(detail::caller_of(options.memory), {{}, {}, {{memory.data, active * shape.model}}}, cache,
                          workspace);
    detail::vec::with_packs<Vectors>([&]<class Simd>(Simd) {
      using CrossAttention = typename Steps<Simd>::CrossAttention;
      float* const panels = workspace.context.data;
      CrossAttention::template context_to_panels<shape.model>(memory.data, active, panels, workspace.context_input);
      CrossAttention::fill(workspace.context_input.view(panels), weights.cross_attention, active, cache,
                           workspace.projected_panel());
    });
  }

  // Computes `y` [tokens][model] from `x` [tokens][model], the next tokens of a text. Appends the keys and values of
  // these tokens to `cache`. `memory` holds the keys and values that project_memory has stored.
  //
  // - Lengths: options.self.tokens sets how many tokens `x` has, at most shape.queries. The cache has room for
  //   shape.keys tokens. If options.memory.keys is set, the tokens attend only to the first options.memory.keys tokens
  //   of the memory.
  // - Positions: MultiHeadAttention::extend describes the positions of the tokens in self-attention. In the attention
  //   to the memory, the mask uses other positions: token number t of the text has the position t + Memory -
  //   shape.keys. If options.memory.mask sets an offset, token number i of `x` has the position offset + i instead.
  // - Maps: a row of DecoderMaps::self has shape.keys elements, one for each token that the cache has room for.
  // - Errors: `cache` must have room for the tokens of `x`. `memory` must hold options.memory.keys tokens or more.
  //   Otherwise, the call breaks a precondition (checks.hpp).
  static constexpr void extend(Input x, Cache& cache, const MemoryCache& memory, const Weights& weights, Output y,
                               CachedWorkspace& workspace, const Options& options = {}) noexcept {
    compute_extend(detail::WholeCall{}, x, cache, memory, weights, y, workspace.shared, workspace.scratch, options,
                   no_capture);
  }
  static constexpr void extend(Input x, Cache& cache, const MemoryCache& memory, const Weights& weights, Output y,
                               CachedWorkspace& workspace, const Options& options, const Maps& maps) noexcept {
    compute_extend(detail::WholeCall{}, x, cache, memory, weights, y, workspace.shared, workspace.scratch, options,
                   captures_of(maps));
  }
  template <Stage G>
  static constexpr void extend(Input x, Cache& cache, const MemoryCache& memory, const Weights& weights, Output y,
                               CachedWorkspace& workspace, const Options& options,
                               const DecoderCaptures<G>& maps) noexcept {
    compute_extend(detail::WholeCall{}, x, cache, memory, weights, y, workspace.shared, workspace.scratch, options,
                   captures_of(maps));
  }

  // Computes one thread's share of one phase of `extend` (threads.hpp). MultiHeadAttention::extend_phase describes the
  // rules for threads.
  static constexpr void extend_phase(std::size_t phase, Share share, Input x, Cache& cache, const MemoryCache& memory,
                                     const Weights& weights, Output y, ExtendShared& shared, ExtendScratch& scratch,
                                     const Options& options = {}) noexcept {
    compute_extend(detail::share_of_phase(detail::caller_of(options.self), phase, phases, share), x, cache, memory,
                   weights, y, shared, scratch, options, no_capture);
  }
  static constexpr void extend_phase(std::size_t phase, Share share, Input x, Cache& cache, const MemoryCache& memory,
                                     const Weights& weights, Output y, ExtendShared& shared, ExtendScratch& scratch,
                                     const Options& options, const Maps& maps) noexcept {
    compute_extend(detail::share_of_phase(detail::caller_of(options.self), phase, phases, share), x, cache, memory,
                   weights, y, shared, scratch, options, captures_of(maps));
  }
  template <Stage G>
  static constexpr void extend_phase(std::size_t phase, Share share, Input x, Cache& cache, const MemoryCache& memory,
                                     const Weights& weights, Output y, ExtendShared& shared, ExtendScratch& scratch,
                                     const Options& options, const DecoderCaptures<G>& maps) noexcept {
    compute_extend(detail::share_of_phase(detail::caller_of(options.self), phase, phases, share), x, cache, memory,
                   weights, y, shared, scratch, options, captures_of(maps));
  }

  // The class Decoder also uses the members from here to `captures_of`.

  // Returns the active lengths of self-attention and of the attention to the memory.
  static constexpr detail::DecoderLengths lengths(const Options& options) noexcept {
    static_assert(
        shape.queries == shape.keys,
        "ladon: a decoder attends to itself, so it has as many keys as queries. The memory has a separate length. "
        "If keys is the capacity of a cache, call extend");
    const Lengths self = options.self.lengths();
    return {self, {self.queries, options.memory.lengths().keys}};
  }
  // Returns how many tokens `extend` appends, and how many tokens of the memory are active.
  static constexpr Lengths lengths(const Options& options, const MemoryCache& memory) noexcept {
    const std::size_t keys = options.memory.lengths().keys;
    const std::size_t active = options.memory.keys == all && options.memory.tokens == all ? memory.length : keys;
    LADON_EXPECTS(active <= memory.length, "ladon: more keys than the cache holds", options.memory.caller,
                  {{"options.memory.keys", active}, {"memory.length", memory.length}});
    return {options.self.lengths().queries, active};
  }

  // Checks the arrays and the workspace of a run in a checked build (detail/panel/pointer_checks.hpp).
  template <class... Owned>
  static constexpr void expect_memory(detail::Caller caller, Input x, MemoryInput memory, Output y,
                                      const detail::DecoderLengths& active, const Owned&... owned) noexcept {
    detail::expect_memory(caller,
                          {{y.data, active.self.queries * shape.model},
                           {x.data, active.self.longer() * shape.model},
                           {{memory.data, active.memory.keys * shape.model}}},
                          owned...);
  }

  // Where the attention weights of a layer go: `self` for self-attention, `memory` for the attention to the memory.
  // Both members are function objects. Each takes a function `attend`, and calls it with an object that writes the
  // weights or writes nothing (detail/attention/capture.hpp).
  template <class Self, class Cross>
  struct Captures {
    Self self;
    Cross memory;
  };
  static constexpr Captures<detail::NoCapture, detail::NoCapture> no_capture{};
  static constexpr auto captures_of(const auto& maps) noexcept {
    return Captures<decltype(detail::wanted<shape>(maps.self)), decltype(detail::wanted<cross>(maps.memory))>{
        detail::wanted<shape>(maps.self), detail::wanted<cross>(maps.memory)};
  }

  LADON_REJECT_DECODER_OPTIONS(run(Input, MemoryInput, const Weights&, Output, const Workspace&, ...));
  LADON_REJECT_CALL(run, "x, memory, weights, y, workspace, options, maps");
  LADON_REJECT_CALL(extend, "x, cache, memory, weights, y, workspace, options, maps");

 private:
  // `share` says what to compute: the whole call, or one thread's share of one phase (threads.hpp).
  template <class CallShare, class Captured>
  static constexpr void compute(CallShare share, Input x, MemoryInput memory, const Weights& weights, Output y,
                                Shared& shared, Scratch& scratch, const Options& options,
                                const Captured& captures) noexcept {
    const detail::DecoderLengths active = lengths(options);
    expect_memory(detail::caller_of(options.self), x, memory, y, active, shared, scratch);
    detail::vec::with_packs<Vectors>([&]<class Simd>(Simd) {
      if (share.has(0)) {
        Steps<Simd>::SelfAttention::tokens_to_panels(x.data, active.self.longer(), shared.tokens.x.data, share);
        Steps<Simd>::memory_to_panels(memory.data, active.memory.keys, shared, share);
        Steps<Simd>::self_attention_input(weights, active.self.longer(), shared.tokens, share);
      }
      Steps<Simd>::run(weights, active, options, shared, scratch, captures, share, 1);
      if (share.has(4))
        Steps<Simd>::SelfAttention::panels_to_rows(shared.tokens.x.data, active.self.queries, y.data, share);
    });
  }

  template <class CallShare, class Captured>
  static constexpr void compute_extend(CallShare share, Input x, Cache& cache, const MemoryCache& memory,
                                       const Weights& weights, Output y, ExtendShared& shared, ExtendScratch& scratch,
                                       const Options& options, const Captured& captures) noexcept {
    const Lengths active = lengths(options, memory);
    if (active.queries == 0) return;
    const std::size_t floats = active.queries * shape.model;
    detail::expect_memory(detail::caller_of(options.self), {{y.data, floats}, {x.data, floats}}, cache, memory, shared,
                          scratch);
    detail::vec::with_packs<Vectors>([&]<class Simd>(Simd) {
      if (share.has(0)) {
        Steps<Simd>::SelfAttention::tokens_to_panels(x.data, active.queries, shared.x.data, share);
        Steps<Simd>::self_attention_input(weights, active.queries, shared, share);
      }
      Steps<Simd>::extend(weights, active, options, cache, memory, shared, scratch, captures, share, 1);
      if (share.has(4)) Steps<Simd>::SelfAttention::panels_to_rows(shared.x.data, active.queries, y.data, share);
    });
  }
};

}  // namespace LADON_NAMESPACE
