// SPDX-License-Identifier: Apache-2.0
// One encoder layer ("Attention Is All You Need", arXiv 1706.03762, section 3.1). A layer has two sublayers: attention
// and a feed-forward network. Each sublayer has a residual connection and a norm.
//     post-LN:  x = norm1(x + attend(x));  x = norm2(x + feed_forward(x))
//     pre-LN:   x = x + attend(norm1(x));  x = x + feed_forward(norm2(x))
//
// The kernels store tokens in panels: up to 32 tokens, side by side (detail/panel/panels.hpp). After
// attention, the layer takes a few panels through all further steps before it takes the next panels. The panels in work
// therefore stay in the CPU's cache.
//
// Implementation: detail/layer/encoder_steps.hpp.
#pragma once

#include <cstddef>

#include <ladon/attention_map.hpp>
#include <ladon/checks.hpp>
#include <ladon/detail/attention/capture.hpp>
#include <ladon/detail/layer/encoder_steps.hpp>
#include <ladon/detail/layer/model_types.hpp>
#include <ladon/detail/layer/workspace.hpp>
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

// The weights of an encoder layer. The linear maps and the norms have the names of PyTorch's TransformerEncoderLayer.
// `attention` is PyTorch's self_attn. If Model::gated is true, the feed-forward network has an additional linear map,
// `gate`.
template <Model M, class Layout>
struct EncoderLayerWeights {
  using Linears = FeedForwardLinears<M, Layout>;
  typename Layout::template Weights<M.shape()> attention;
  typename Linears::First linear1;
  typename Linears::Second linear2;
  typename NormOf<M>::Type norm1;
  typename NormOf<M>::Type norm2;
};
template <Model M, class Layout>
  requires(M.gated)
struct EncoderLayerWeights<M, Layout> {
  using Linears = FeedForwardLinears<M, Layout>;
  typename Layout::template Weights<M.shape()> attention;
  typename Linears::First gate;
  typename Linears::First linear1;
  typename Linears::Second linear2;
  typename NormOf<M>::Type norm1;
  typename NormOf<M>::Type norm2;
};

// A single encoder layer. The class Encoder computes a stack of layers, and converts between rows and panels only at
// the beginning and at the end of the stack.
template <Model M, mask::Policy Mask = typename MaskOf<M>::Type, class Layout = typename LayoutOf<M>::Type,
          class Score = typename ScoreOf<M>::Type, position::Policy Position = typename PositionOf<M>::Type,
          class Vectors = detail::vec::NativeVectors>
struct EncoderLayer {
  static_assert(valid<M.sizes()>());
  static constexpr Model model = M;
  static constexpr Shape shape = M.shape();
  static_assert(shape.key_model == shape.model && shape.value_model == shape.model,
                "ladon: an encoder attends to itself, so keys and values come from tokens as wide as the model");
  static_assert(M.feed_forward > 0, "ladon: an encoder layer needs the hidden width of its feed-forward network");

  using Weights = EncoderLayerWeights<M.weights_only(), Layout>;
  using Precision = typename Layout::Precision;
  using Shared = EncoderShared<shape, M, Vectors, Precision>;
  using Scratch = EncoderScratch<shape, M, Vectors, Precision>;
  using Workspace = EncoderWorkspace<shape, M, Vectors, Precision>;
  template <std::size_t Threads>
  using TeamWorkspace = ladon::TeamWorkspace<Shared, Scratch, Threads>;
  // The workspaces of extend and extend_phase.
  using ExtendScratch = EncoderScratch<shape, M, Vectors, Precision, CachedScratch<shape, Vectors>>;
  using CachedWorkspace = ladon::Workspace<Shared, ExtendScratch>;
  template <std::size_t Threads>
  using CachedTeamWorkspace = ladon::TeamWorkspace<Shared, ExtendScratch, Threads>;
  using Cache = CacheOf<shape, Mask, Vectors>;
  using Options = RunOptions<shape, Mask, Score, Position>;
  using Map = AttentionMap<shape>;
  using Input = MatrixView<const float, shape.queries, shape.model>;
  using Output = MatrixView<float, shape.queries, shape.model>;

  // How many phases run_phase has. Phase 0 converts `x` and computes the input of attention. Phase 1 computes the
  // attention of all heads. Phase 2 computes the steps after attention and writes `y`.
  static constexpr std::size_t phases = 3;
  // Returns the number of parts of a phase (threads.hpp), which is the largest useful number of threads in this phase.
  static constexpr std::size_t parts(std::size_t phase) noexcept {
    return detail::parts_of_phase<shape, Vectors>(phase);
  }

  // Computes `y` [queries][model] from `x` [queries][model].
  // - Lengths: options.queries and options.keys set how many tokens are active (options.hpp). The call neither reads
  //   inactive tokens nor writes the rows of `y` for inactive queries.
  // - Aliasing: `y` may be the same array as `x`. Apart from this case, an array that the call writes must not overlap
  //   with any other argument.
  // - Workspace: the caller owns the workspace, aligned to 64 bytes. Two concurrent calls need two workspaces.
  // - Errors: a length must not exceed the length in the shape. Otherwise, the call breaks a precondition (checks.hpp).
  // - Capture: `map` receives an additional output [heads][queries][keys]. If `map` is a Map, the output is the
  //   attention weights. If `map` is a Capture<G>, the output is the result of stage G (attention_map.hpp).
  template <class MapType = detail::NoCapture>
  static constexpr void run(Input x, const Weights& weights, Output y, Workspace& workspace,
                            const Options& options = {}, MapType&& map = {}) noexcept {
    compute(detail::WholeCall{}, x, weights, y, workspace.shared, workspace.scratch, options, map);
  }
  // Computes one thread's share of one phase of `run` (threads.hpp). MultiHeadAttention::run_phase describes the rules
  // for threads.
  template <class MapType = detail::NoCapture>
  static constexpr void run_phase(std::size_t phase, Share share, Input x, const Weights& weights, Output y,
                                  Shared& shared, Scratch& scratch, const Options& options = {},
                                  MapType&& map = {}) noexcept {
    compute(detail::share_of_phase(detail::caller_of(options), phase, phases, share), x, weights, y, shared, scratch,
            options, map);
  }

  // Computes `y` [tokens][model] from `x` [tokens][model], the next tokens of a text. Appends the keys and values of
  // these tokens to `cache`. The cache has room for shape.keys tokens, and a call takes at most shape.queries tokens.
  // MultiHeadAttention::extend describes positions, options and errors, and `run` describes `map`.
  template <class MapType = detail::NoCapture>
  static constexpr void extend(Input x, Cache& cache, const Weights& weights, Output y, CachedWorkspace& workspace,
                               const Options& options = {}, MapType&& map = {}) noexcept {
    compute_extend(detail::WholeCall{}, x, cache, weights, y, workspace.shared, workspace.scratch, options, map);
  }
  // Computes one thread's share of one phase of `extend` (threads.hpp). MultiHeadAttention::extend_phase describes the
  // rules for threads.
  template <class MapType = detail::NoCapture>
  static constexpr void extend_phase(std::size_t phase, Share share, Input x, Cache& cache, const Weights& weights,
                                     Output y, Shared& shared, ExtendScratch& scratch, const Options& options = {},
                                     MapType&& map = {}) noexcept {
    compute_extend(detail::share_of_phase(detail::caller_of(options), phase, phases, share), x, cache, weights, y,
                   shared, scratch, options, map);
  }

  LADON_REJECT_OPTIONS(run(Input, const Weights&, Output, const Workspace&, ...));
  LADON_REJECT_OPTIONS(run_phase(std::size_t, Share, Input, const Weights&, Output, Shared&, const Scratch&, ...));
  LADON_REJECT_OPTIONS(extend(Input, Cache&, const Weights&, Output, const CachedWorkspace&, ...));
  LADON_REJECT_CALL(run, "x, weights, y, workspace, options, map");
  LADON_REJECT_CALL(extend, "x, cache, weights, y, workspace, options, map");

 private:
  // `share` says what to compute: the whole call, or one thread's share of one phase (threads.hpp).
  template <class CallShare, class MapType>
  static constexpr void compute_extend(CallShare share, Input x, Cache& cache, const Weights& weights, Output y,
                                       Shared& shared, ExtendScratch& scratch, const Options& options,
                                       MapType& map) noexcept {
    const std::size_t tokens = options.lengths().queries;
    if (tokens == 0) return;
    detail::expect_memory(detail::caller_of(options), {{y.data, tokens * shape.model}, {x.data, tokens * shape.model}},
                          cache, shared, scratch);
    detail::vec::with_packs<Vectors>([&]<class Simd>(Simd) {
      using Steps = detail::EncoderSteps<shape, M, Weights, Score, Position, Vectors, Simd>;
      if (share.has(0)) {
        Steps::SelfAttention::tokens_to_panels(x.data, tokens, shared.x.data, share);
        Steps::self_attention_input(weights, tokens, shared, share);
      }
      if (share.has(1)) {
        Steps::extend(weights, tokens, options, cache, shared, scratch, detail::capture<shape>(map), share);
      }
      if (share.has(2)) {
        Steps::SelfAttention::count_tokens(tokens, cache, share);
        Steps::after_heads(weights, tokens, shared, scratch, share);
        Steps::SelfAttention::panels_to_rows(shared.x.data, tokens, y.data, share);
      }
    });
  }

  template <class CallShare, class MapType>
  static constexpr void compute(CallShare share, Input x, const Weights& weights, Output y, Shared& shared,
                                Scratch& scratch, const Options& options, MapType& map) noexcept {
    static_assert(shape.queries == shape.keys,
                  "ladon: an encoder attends to itself, so it has as many keys as queries. If keys is the capacity "
                  "of a cache, call extend");
    const Lengths lengths = options.lengths();
    detail::expect_memory(detail::caller_of(options),
                          {{y.data, lengths.queries * shape.model}, {x.data, lengths.longer() * shape.model}}, shared,
                          scratch);
    detail::vec::with_packs<Vectors>([&]<class Simd>(Simd) {
      using Steps = detail::EncoderSteps<shape, M, Weights, Score, Position, Vectors, Simd>;
      if (share.has(0)) {
        Steps::SelfAttention::tokens_to_panels(x.data, lengths.longer(), shared.x.data, share);
        Steps::self_attention_input(weights, lengths.longer(), shared, share);
      }
      if (share.has(1)) {
        Steps::attend(weights, lengths, options, shared, scratch, detail::capture<shape>(map), share);
      }
      if (share.has(2)) {
        Steps::after_heads(weights, lengths.queries, shared, scratch, share);
        Steps::SelfAttention::panels_to_rows(shared.x.data, lengths.queries, y.data, share);
      }
    });
  }
};

}  // namespace LADON_NAMESPACE
