// SPDX-License-Identifier: Apache-2.0
// A stack of encoder layers. A run first converts the tokens from rows into the layout of the kernels (panels,
// detail/panel/panels.hpp). The run then computes all layers in place. Finally, the run converts the result into rows.
//
// Implementation: detail/layer/encoder_steps.hpp and detail/layer/class_token.hpp.
#pragma once

#include <array>
#include <cstddef>
#include <type_traits>

#include <ladon/checks.hpp>
#include <ladon/detail/layer/class_token.hpp>
#include <ladon/detail/panel/pointer_checks.hpp>
#include <ladon/encoder_layer.hpp>

namespace LADON_NAMESPACE {

// The weights of all layers of a stack, and, if F is FinalNorm::with, the weights of the final norm.
template <std::size_t Layers, class LayerWeights, class Norm, FinalNorm F>
struct StackWeights {
  std::array<LayerWeights, Layers> layers;
};
template <std::size_t Layers, class LayerWeights, class Norm>
struct StackWeights<Layers, LayerWeights, Norm, FinalNorm::with> {
  std::array<LayerWeights, Layers> layers;
  Norm norm;
};

// A stack of M.layers encoder layers (EncoderLayer).
template <Model M, mask::Policy Mask = typename MaskOf<M>::Type, class Layout = typename LayoutOf<M>::Type,
          class Score = typename ScoreOf<M>::Type, position::Policy Position = typename PositionOf<M>::Type,
          class Vectors = detail::vec::NativeVectors>
struct Encoder {
  using Layer = EncoderLayer<M.one_layer(), Mask, Layout, Score, Position, Vectors>;
  static constexpr Model model = M;
  static constexpr std::size_t Layers = M.layers;
  static constexpr Shape shape = Layer::shape;
  static_assert(Layers > 0, "ladon: an encoder needs at least one layer");

  using Weights = StackWeights<Layers, typename Layer::Weights, typename NormOf<M.weights_only()>::Type, M.final_norm>;
  using Shared = typename Layer::Shared;
  using Scratch = typename Layer::Scratch;
  using Workspace = ladon::Workspace<Shared, Scratch>;
  template <std::size_t Threads>
  using TeamWorkspace = ladon::TeamWorkspace<Shared, Scratch, Threads>;
  using ExtendScratch = typename Layer::ExtendScratch;
  using CachedWorkspace = ladon::Workspace<Shared, ExtendScratch>;
  template <std::size_t Threads>
  using CachedTeamWorkspace = ladon::TeamWorkspace<Shared, ExtendScratch, Threads>;
  using Caches = std::array<typename Layer::Cache, Layers>;
  using Options = typename Layer::Options;
  using Input = typename Layer::Input;
  using Output = typename Layer::Output;
  // Pointers to the arrays of the caller that receive the attention weights. Element i points to an array
  // [heads][queries][keys] for layer i. If element i is null, the weights of layer i are not written.
  using Maps = std::array<float*, Layers>;
  // Like Maps, for the results of stage G (attention_map.hpp).
  template <Stage G>
  using Captures = std::array<Capture<G>, Layers>;

  // How many phases run_phase has. Phase 0 converts `x` into panels. Phase 1 + 2i computes the attention of layer i,
  // and phase 2 + 2i computes the remaining steps of layer i. The last phase also writes `y`.
  static constexpr std::size_t phases = 1 + 2 * Layers;
  // Returns the number of parts of a phase (threads.hpp), which is the largest useful number of threads in this phase.
  static constexpr std::size_t parts(std::size_t phase) noexcept { return Layer::parts(phase); }

  // Computes `y` [queries][model] from `x` [queries][model]. EncoderLayer::run describes lengths, aliasing, workspace
  // and errors.
  //
  // Only the last layer skips inactive queries. All earlier layers compute every active token, because the next layer
  // needs these tokens as keys. Often only token 0 is a query, for example the class token of a classifier. On AVX2 and
  // AVX-512, the last layer then uses the kernels for a single token (detail/layer/class_token.hpp). A deterministic
  // build and a shape with thousands of keys are exceptions: has_first_token in detail/layer/workspace.hpp has
  // all conditions.
  static constexpr void run(Input x, const Weights& weights, Output y, Workspace& workspace,
                            const Options& options = {}) noexcept {
    compute(detail::WholeCall{}, x, weights, y, workspace.shared, workspace.scratch, options, no_capture);
  }
  // Computes `y` like the function above, and writes the attention weights of layer i to maps[i].
  static constexpr void run(Input x, const Weights& weights, Output y, Workspace& workspace, const Options& options,
                            const Maps& maps) noexcept {
    compute(detail::WholeCall{}, x, weights, y, workspace.shared, workspace.scratch, options, capture_in(maps));
  }
  // Computes `y` like the functions above, and writes the result of stage G of layer i to maps[i].
  template <Stage G>
  static constexpr void run(Input x, const Weights& weights, Output y, Workspace& workspace, const Options& options,
                            const std::array<Capture<G>, Layers>& maps) noexcept {
    compute(detail::WholeCall{}, x, weights, y, workspace.shared, workspace.scratch, options, capture_in(maps));
  }

  // Computes one thread's share of one phase of `run` (threads.hpp). MultiHeadAttention::run_phase describes the rules
  // for threads.
  static constexpr void run_phase(std::size_t phase, Share share, Input x, const Weights& weights, Output y,
                                  Shared& shared, Scratch& scratch, const Options& options = {}) noexcept {
    compute(detail::share_of_phase(detail::caller_of(options), phase, phases, share), x, weights, y, shared, scratch,
            options, no_capture);
  }
  static constexpr void run_phase(std::size_t phase, Share share, Input x, const Weights& weights, Output y,
                                  Shared& shared, Scratch& scratch, const Options& options, const Maps& maps) noexcept {
    compute(detail::share_of_phase(detail::caller_of(options), phase, phases, share), x, weights, y, shared, scratch,
            options, capture_in(maps));
  }
  template <Stage G>
  static constexpr void run_phase(std::size_t phase, Share share, Input x, const Weights& weights, Output y,
                                  Shared& shared, Scratch& scratch, const Options& options,
                                  const std::array<Capture<G>, Layers>& maps) noexcept {
    compute(detail::share_of_phase(detail::caller_of(options), phase, phases, share), x, weights, y, shared, scratch,
            options, capture_in(maps));
  }

  // Computes `y` [tokens][model] from `x` [tokens][model], the next tokens of a text. EncoderLayer::extend describes
  // the cache and the lengths. Layer i uses caches[i].
  static constexpr void extend(Input x, Caches& caches, const Weights& weights, Output y, CachedWorkspace& workspace,
                               const Options& options = {}) noexcept {
    compute_extend(detail::WholeCall{}, x, caches, weights, y, workspace.shared, workspace.scratch, options,
                   no_capture);
  }
  // Computes `y` like the function above, and writes the attention weights of layer i to maps[i]. A row of
  // maps[i] has shape.keys elements, one for each token that the cache has room for.
  static constexpr void extend(Input x, Caches& caches, const Weights& weights, Output y, CachedWorkspace& workspace,
                               const Options& options, const Maps& maps) noexcept {
    compute_extend(detail::WholeCall{}, x, caches, weights, y, workspace.shared, workspace.scratch, options,
                   capture_in(maps));
  }
  // Computes `y` like the functions above, and writes the result of stage G of layer i to maps[i].
  template <Stage G>
  static constexpr void extend(Input x, Caches& caches, const Weights& weights, Output y, CachedWorkspace& workspace,
                               const Options& options, const std::array<Capture<G>, Layers>& maps) noexcept {
    compute_extend(detail::WholeCall{}, x, caches, weights, y, workspace.shared, workspace.scratch, options,
                   capture_in(maps));
  }

  // Computes one thread's share of one phase of `extend` (threads.hpp). MultiHeadAttention::extend_phase describes the
  // rules for threads.
  static constexpr void extend_phase(std::size_t phase, Share share, Input x, Caches& caches, const Weights& weights,
                                     Output y, Shared& shared, ExtendScratch& scratch,
                                     const Options& options = {}) noexcept {
    compute_extend(detail::share_of_phase(detail::caller_of(options), phase, phases, share), x, caches, weights, y,
                   shared, scratch, options, no_capture);
  }
  static constexpr void extend_phase(std::size_t phase, Share share, Input x, Caches& caches, const Weights& weights,
                                     Output y, Shared& shared, ExtendScratch& scratch, const Options& options,
                                     const Maps& maps) noexcept {
    compute_extend(detail::share_of_phase(detail::caller_of(options), phase, phases, share), x, caches, weights, y,
                   shared, scratch, options, capture_in(maps));
  }
  template <Stage G>
  static constexpr void extend_phase(std::size_t phase, Share share, Input x, Caches& caches, const Weights& weights,
                                     Output y, Shared& shared, ExtendScratch& scratch, const Options& options,
                                     const std::array<Capture<G>, Layers>& maps) noexcept {
    compute_extend(detail::share_of_phase(detail::caller_of(options), phase, phases, share), x, caches, weights, y,
                   shared, scratch, options, capture_in(maps));
  }

  LADON_REJECT_OPTIONS(run(Input, const Weights&, Output, const Workspace&, ...));
  LADON_REJECT_OPTIONS(run_phase(std::size_t, Share, Input, const Weights&, Output, Shared&, const Scratch&, ...));
  LADON_REJECT_OPTIONS(extend(Input, Caches&, const Weights&, Output, const CachedWorkspace&, ...));
  LADON_REJECT_CALL(run, "x, weights, y, workspace, options, maps");
  LADON_REJECT_CALL(extend, "x, caches, weights, y, workspace, options, maps");

 private:
  // `compute` and `compute_extend` have a parameter `with_capture`, which is no_capture or capture_in(maps). For
  // layer i, they call with_capture(i, f). `f` is a function that computes the layer. with_capture calls f(capture),
  // and `capture` determines the additional output of the layer. no_capture passes a capture without an output.
  // capture_in(maps) passes a capture that writes the attention weights, or the result of a stage, to maps[i].
  static constexpr auto no_capture = [](std::size_t, auto layer) { detail::NoCapture{}(layer); };
  static constexpr auto capture_in(const auto& maps) noexcept {
    return [&](std::size_t i, auto layer) { detail::wanted<shape>(maps[i])(layer); };
  }

  // `share` says what to compute: the whole call, or one thread's share of one phase (threads.hpp).
  template <class CallShare, class WithCapture>
  static constexpr void compute_extend(CallShare share, Input x, Caches& caches, const Weights& weights, Output y,
                                       Shared& shared, ExtendScratch& scratch, const Options& options,
                                       WithCapture with_capture) noexcept {
    const std::size_t tokens = options.lengths().queries;
    if (tokens == 0) return;
    detail::expect_memory(detail::caller_of(options), {{y.data, tokens * shape.model}, {x.data, tokens * shape.model}},
                          caches, shared, scratch);
    detail::vec::with_packs<Vectors>([&]<class Simd>(Simd) {
      using Steps = detail::EncoderSteps<shape, M.one_layer(), typename Layer::Weights, Score, Position, Vectors, Simd>;
      if (share.has(0)) {
        Steps::SelfAttention::tokens_to_panels(x.data, tokens, shared.x.data, share);
        Steps::self_attention_input(weights.layers[0], tokens, shared, share);
      }
      for (std::size_t i = 0; i < Layers; ++i) {
        if (share.has(1 + 2 * i)) {
          with_capture(i, [&](auto capture) {
            Steps::extend(weights.layers[i], tokens, options, caches[i], shared, scratch, capture, share);
          });
        }
        if (share.has(2 + 2 * i)) {
          Steps::SelfAttention::count_tokens(tokens, caches[i], share);
          Steps::after_heads(weights.layers[i], tokens, shared, scratch, share);
          if (i + 1 < Layers) Steps::self_attention_input(weights.layers[i + 1], tokens, shared, share);
        }
      }
      if (share.has(2 * Layers)) leave<Steps>(share, weights, tokens, shared, y);
    });
  }

  template <class CallShare, class WithCapture>
  static constexpr void compute(CallShare share, Input x, const Weights& weights, Output y, Shared& shared,
                                Scratch& scratch, const Options& options, WithCapture with_capture) noexcept {
    static_assert(shape.queries == shape.keys,
                  "ladon: an encoder attends to itself, so it has as many keys as queries. If keys is the capacity "
                  "of a cache, call extend");
    const Lengths lengths = options.lengths();
    const Lengths inner{lengths.longer(), lengths.keys};
    detail::expect_memory(detail::caller_of(options),
                          {{y.data, lengths.queries * shape.model}, {x.data, inner.queries * shape.model}}, shared,
                          scratch);
    detail::vec::with_packs<Vectors>([&]<class Simd>(Simd) {
      using Steps = detail::EncoderSteps<shape, M.one_layer(), typename Layer::Weights, Score, Position, Vectors, Simd>;
      using First =
          detail::FirstTokenSteps<shape, M.one_layer(), typename Layer::Weights, Score, Position, Vectors, Simd>;
      const bool first_token = First::usable && lengths.queries == 1;
      if (share.has(0)) {
        Steps::SelfAttention::tokens_to_panels(x.data, inner.queries, shared.x.data, share);
        Steps::self_attention_input(weights.layers[0], inner.queries, shared, share);
      }
      for (std::size_t i = 0; i < Layers; ++i) {
        const bool last = i + 1 == Layers, first = last && first_token;
        const Lengths active = last ? lengths : inner;
        if (first && share.has(2 * i)) First::take(inner.queries, shared, share);
        if (share.has(1 + 2 * i)) {
          with_capture(i, [&](auto capture) {
            First::attend(first, weights.layers[i], active, options, shared, scratch, capture, share);
          });
        }
        if (share.has(2 + 2 * i) && !first) {
          Steps::after_heads(weights.layers[i], active.queries, shared, scratch, share);
          if (!last) Steps::self_attention_input(weights.layers[i + 1], inner.queries, shared, share);
        }
      }
      if (!share.has(2 * Layers)) return;
      if constexpr (First::usable) {
        if (first_token) {
          First::after_heads(weights.layers[Layers - 1], shared, scratch, share);
          return leave<typename First::One>(share, weights, 1, First::shared_of(shared), y);
        }
      }
      leave<Steps>(share, weights, lengths.queries, shared, y);
    });
  }

  // Applies the final norm of the stack, if any, to the tokens in shared.x. Then converts these tokens into the rows of
  // `y`.
  template <class Steps, class CallShare>
  static constexpr void leave(CallShare share, const Weights& weights, std::size_t queries,
                              typename Steps::Shared& shared, Output y) noexcept {
    float* const panels = shared.x.data;
    if constexpr (M.final_norm == FinalNorm::with)
      Steps::Sublayers::norm_all(weights.norm, panels, queries, panels, share);
    Steps::SelfAttention::panels_to_rows(panels, queries, y.data, share);
  }
};

}  // namespace LADON_NAMESPACE
