// SPDX-License-Identifier: Apache-2.0
// A stack of decoder layers. In the headers of decoders, "the memory" is the output of an encoder. A run first converts
// the tokens and the memory from rows into the layout of the kernels (panels, detail/panel/panels.hpp). The run then
// computes all layers in place. Finally, the run converts the result into rows.
//
// Implementation: detail/layer/decoder_steps.hpp.
#pragma once

#include <array>
#include <cstddef>

#include <ladon/decoder_layer.hpp>
#include <ladon/encoder.hpp>

namespace LADON_NAMESPACE {

// A stack of M.layers decoder layers (DecoderLayer). All layers attend to the same memory.
template <Model M, class Masks = typename DecoderMasksOf<M>::Type, class Layout = typename LayoutOf<M>::Type,
          class Score = typename ScoreOf<M>::Type, position::Policy Position = typename PositionOf<M>::Type,
          class Vectors = detail::vec::NativeVectors>
struct Decoder {
  using Layer = DecoderLayer<M.one_layer(), Masks, Layout, Score, Position, Vectors>;
  static constexpr Model model = M;
  static constexpr std::size_t Layers = M.layers;
  static constexpr Shape shape = Layer::shape;
  static_assert(Layers > 0, "ladon: a decoder needs at least one layer");

  using Weights = StackWeights<Layers, typename Layer::Weights, typename NormOf<M.weights_only()>::Type, M.final_norm>;
  using Shared = typename Layer::Shared;
  using Scratch = typename Layer::Scratch;
  using Workspace = typename Layer::Workspace;
  template <std::size_t Threads>
  using TeamWorkspace = typename Layer::template TeamWorkspace<Threads>;
  using MemoryWorkspace = typename Layer::MemoryWorkspace;
  using ExtendShared = typename Layer::ExtendShared;
  using ExtendScratch = typename Layer::ExtendScratch;
  using CachedWorkspace = typename Layer::CachedWorkspace;
  template <std::size_t Threads>
  using CachedTeamWorkspace = typename Layer::template CachedTeamWorkspace<Threads>;
  // Element i of Caches stores the keys and values of the text's tokens for layer i. Element i of MemoryCaches stores
  // the keys and values of the memory for layer i.
  using Caches = std::array<typename Layer::Cache, Layers>;
  using MemoryCaches = std::array<typename Layer::MemoryCache, Layers>;
  using Options = typename Layer::Options;
  using Input = typename Layer::Input;
  using MemoryInput = typename Layer::MemoryInput;
  using Output = typename Layer::Output;
  // Maps and Captures have one element for each layer. An element has two pointers to arrays of the caller: one for
  // self-attention, and one for the attention to the memory. With Maps, these arrays receive the attention weights.
  // With Captures, they receive the results of stage G (attention_map.hpp).
  using Maps = std::array<DecoderMaps, Layers>;
  template <Stage G>
  using Captures = std::array<DecoderCaptures<G>, Layers>;

  // How many phases run_phase has. Phase 0 converts `x` and `memory` into panels. Then four phases compute each layer,
  // like phases 1 to 4 of DecoderLayer: layer i has the phases 4i + 1 to 4i + 4. The last phase also writes `y`.
  static constexpr std::size_t phases = 1 + 4 * Layers;
  // Returns the number of parts of a phase (threads.hpp), which is the largest useful number of threads in this phase.
  static constexpr std::size_t parts(std::size_t phase) noexcept { return Layer::parts(phase); }

  // Computes `y` [queries][model] from `x` [queries][model] and `memory` [Memory][model]. DecoderLayer::run describes
  // lengths, aliasing, workspace and errors. The last layer computes only the active queries. The earlier layers also
  // compute tokens that are active only as keys, because the next layer attends to all active keys.
  static constexpr void run(Input x, MemoryInput memory, const Weights& weights, Output y, Workspace& workspace,
                            const Options& options = {}) noexcept {
    compute(detail::WholeCall{}, x, memory, weights, y, workspace.shared, workspace.scratch, options, no_capture);
  }
  // Computes `y` like the function above, and writes the attention weights of layer i to maps[i].
  static constexpr void run(Input x, MemoryInput memory, const Weights& weights, Output y, Workspace& workspace,
                            const Options& options, const Maps& maps) noexcept {
    compute(detail::WholeCall{}, x, memory, weights, y, workspace.shared, workspace.scratch, options, in(maps));
  }
  // Computes `y` like the function above, and writes the results of stage G of layer i to maps[i].
  template <Stage G>
  static constexpr void run(Input x, MemoryInput memory, const Weights& weights, Output y, Workspace& workspace,
                            const Options& options, const std::array<DecoderCaptures<G>, Layers>& maps) noexcept {
    compute(detail::WholeCall{}, x, memory, weights, y, workspace.shared, workspace.scratch, options, in(maps));
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
            shared, scratch, options, in(maps));
  }
  template <Stage G>
  static constexpr void run_phase(std::size_t phase, Share share, Input x, MemoryInput memory, const Weights& weights,
                                  Output y, Shared& shared, Scratch& scratch, const Options& options,
                                  const std::array<DecoderCaptures<G>, Layers>& maps) noexcept {
    compute(detail::share_of_phase(detail::caller_of(options.self), phase, phases, share), x, memory, weights, y,
            shared, scratch, options, in(maps));
  }

  // Projects the keys and values of `memory` for every layer. caches[i] receives the keys and values of layer i.
  // DecoderLayer::project_memory describes the lengths.
  static constexpr void project_memory(MemoryInput memory, const Weights& weights, MemoryCaches& caches,
                                       MemoryWorkspace& workspace, const Options& options = {}) noexcept {
    const std::size_t active = options.memory.lengths().keys;
    detail::expect_memory(detail::caller_of(options.memory), {{}, {}, {{memory.data, active * shape.model}}}, caches,
                          workspace);
    detail::vec::with_packs<Vectors>([&]<class Simd>(Simd) {
      using CrossAttention = typename Layer::template Steps<Simd>::CrossAttention;
      float* const panels = workspace.context.data;
      CrossAttention::template context_to_panels<shape.model>(memory.data, active, panels, workspace.context_input);
      const auto context = workspace.context_input.view(panels);
      for (std::size_t i = 0; i < Layers; ++i) {
        CrossAttention::fill(context, weights.layers[i].cross_attention, active, caches[i],
                             workspace.projected_panel());
      }
    });
  }

  // Computes `y` [tokens][model] from `x` [tokens][model], the next tokens of a text. DecoderLayer::extend describes
  // lengths, positions, maps and errors. Layer i uses caches[i] and memory[i].
  static constexpr void extend(Input x, Caches& caches, const MemoryCaches& memory, const Weights& weights, Output y,
                               CachedWorkspace& workspace, const Options& options = {}) noexcept {
    compute_extend(detail::WholeCall{}, x, caches, memory, weights, y, workspace.shared, workspace.scratch, options,
                   no_capture);
  }
  static constexpr void extend(Input x, Caches& caches, const MemoryCaches& memory, const Weights& weights, Output y,
                               CachedWorkspace& workspace, const Options& options, const Maps& maps) noexcept {
    compute_extend(detail::WholeCall{}, x, caches, memory, weights, y, workspace.shared, workspace.scratch, options,
                   in(maps));
  }
  template <Stage G>
  static constexpr void extend(Input x, Caches& caches, const MemoryCaches& memory, const Weights& weights, Output y,
                               CachedWorkspace& workspace, const Options& options,
                               const std::array<DecoderCaptures<G>, Layers>& maps) noexcept {
    compute_extend(detail::WholeCall{}, x, caches, memory, weights, y, workspace.shared, workspace.scratch, options,
                   in(maps));
  }

  // Computes one thread's share of one phase of `extend` (threads.hpp). MultiHeadAttention::extend_phase describes the
  // rules for threads.
  static constexpr void extend_phase(std::size_t phase, Share share, Input x, Caches& caches,
                                     const MemoryCaches& memory, const Weights& weights, Output y, ExtendShared& shared,
                                     ExtendScratch& scratch, const Options& options = {}) noexcept {
    compute_extend(detail::share_of_phase(detail::caller_of(options.self), phase, phases, share), x, caches, memory,
                   weights, y, shared, scratch, options, no_capture);
  }
  static constexpr void extend_phase(std::size_t phase, Share share, Input x, Caches& caches,
                                     const MemoryCaches& memory, const Weights& weights, Output y, ExtendShared& shared,
                                     ExtendScratch& scratch, const Options& options, const Maps& maps) noexcept {
    compute_extend(detail::share_of_phase(detail::caller_of(options.self), phase, phases, share), x, caches, memory,
                   weights, y, shared, scratch, options, in(maps));
  }
  template <Stage G>
  static constexpr void extend_phase(std::size_t phase, Share share, Input x, Caches& caches,
                                     const MemoryCaches& memory, const Weights& weights, Output y, ExtendShared& shared,
                                     ExtendScratch& scratch, const Options& options,
                                     const std::array<DecoderCaptures<G>, Layers>& maps) noexcept {
    compute_extend(detail::share_of_phase(detail::caller_of(options.self), phase, phases, share), x, caches, memory,
                   weights, y, shared, scratch, options, in(maps));
  }

  LADON_REJECT_DECODER_OPTIONS(run(Input, MemoryInput, const Weights&, Output, const Workspace&, ...));
  LADON_REJECT_CALL(run, "x, memory, weights, y, workspace, options, maps");
  LADON_REJECT_CALL(extend, "x, caches, memory, weights, y, workspace, options, maps");

 private:
  // Two function objects, `no_capture` and in(maps). Each takes the number i of a layer and returns Captures for this
  // layer (DecoderLayer). The Captures from `no_capture` write nothing. The Captures from in(maps) write into the
  // arrays of maps[i].
  static constexpr auto no_capture = [](std::size_t) { return Layer::no_capture; };
  static constexpr auto in(const auto& maps) noexcept {
    return [&](std::size_t i) { return Layer::captures_of(maps[i]); };
  }

  // `share` says what to compute: the whole call, or one thread's share of one phase (threads.hpp).
  template <class CallShare, class CapturesOf>
  static constexpr void compute(CallShare share, Input x, MemoryInput memory, const Weights& weights, Output y,
                                Shared& shared, Scratch& scratch, const Options& options,
                                CapturesOf captures_of) noexcept {
    const detail::DecoderLengths last = Layer::lengths(options);
    const std::size_t longer = last.self.longer();
    const detail::DecoderLengths inner{{longer, last.self.keys}, {longer, last.memory.keys}};
    Layer::expect_memory(detail::caller_of(options.self), x, memory, y, last, shared, scratch);
    detail::vec::with_packs<Vectors>([&]<class Simd>(Simd) {
      using Steps = typename Layer::template Steps<Simd>;
      if (share.has(0)) {
        Steps::SelfAttention::tokens_to_panels(x.data, longer, shared.tokens.x.data, share);
        Steps::memory_to_panels(memory.data, last.memory.keys, shared, share);
        Steps::self_attention_input(weights.layers[0], longer, shared.tokens, share);
      }
      for (std::size_t i = 0; i < Layers; ++i) {
        const detail::DecoderLengths& active = i + 1 < Layers ? inner : last;
        Steps::run(weights.layers[i], active, options, shared, scratch, captures_of(i), share, 1 + 4 * i);
        if (share.has(4 + 4 * i) && i + 1 < Layers) {
          Steps::self_attention_input(weights.layers[i + 1], longer, shared.tokens, share);
        }
      }
      if (share.has(4 * Layers)) leave<Steps>(share, weights, last.self.queries, shared.tokens, y);
    });
  }

  template <class CallShare, class CapturesOf>
  static constexpr void compute_extend(CallShare share, Input x, Caches& caches, const MemoryCaches& memory,
                                       const Weights& weights, Output y, ExtendShared& shared, ExtendScratch& scratch,
                                       const Options& options, CapturesOf captures_of) noexcept {
    const std::size_t tokens = options.self.lengths().queries;
    if (tokens == 0) return;
    const std::size_t floats = tokens * shape.model;
    detail::expect_memory(detail::caller_of(options.self), {{y.data, floats}, {x.data, floats}}, caches, memory, shared,
                          scratch);
    detail::vec::with_packs<Vectors>([&]<class Simd>(Simd) {
      using Steps = typename Layer::template Steps<Simd>;
      if (share.has(0)) {
        Steps::SelfAttention::tokens_to_panels(x.data, tokens, shared.x.data, share);
        Steps::self_attention_input(weights.layers[0], tokens, shared, share);
      }
      for (std::size_t i = 0; i < Layers; ++i) {
        const Lengths active = Layer::lengths(options, memory[i]);
        Steps::extend(weights.layers[i], active, options, caches[i], memory[i], shared, scratch, captures_of(i), share,
                      1 + 4 * i);
        if (share.has(4 + 4 * i) && i + 1 < Layers)
          Steps::self_attention_input(weights.layers[i + 1], tokens, shared, share);
      }
      if (share.has(4 * Layers)) leave<Steps>(share, weights, tokens, shared, y);
    });
  }

  // Applies the final norm of the stack, if any, to the panels of tokens in tokens.x. Then converts the panels into the
  // rows of `y`.
  template <class Steps, class CallShare>
  static constexpr void leave(CallShare share, const Weights& weights, std::size_t queries, auto& tokens,
                              Output y) noexcept {
    float* const panels = tokens.x.data;
    if constexpr (M.final_norm == FinalNorm::with)
      Steps::Sublayers::norm_all(weights.norm, panels, queries, panels, share);
    Steps::SelfAttention::panels_to_rows(panels, queries, y.data, share);
  }
};

}  // namespace LADON_NAMESPACE
