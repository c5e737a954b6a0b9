// SPDX-License-Identifier: Apache-2.0
// One decoder layer ("Attention Is All You Need", arXiv 1706.03762, section 3.1). A layer has three parts:
// self-attention, attention to a memory (cross-attention), and a feed-forward network. Each part has a residual
// connection and a norm. The memory is the output of an encoder.
//
//     post-LN:  x = norm1(x + self(x));  x = norm2(x + cross(x, memory));  x = norm3(x + feed_forward(x))
//     pre-LN:   x = x + self(norm1(x));  x = x + cross(norm2(x), memory);  x = x + feed_forward(norm3(x))
//
// The layer does not normalise the memory. Like an encoder layer, a decoder layer computes on panels
// (detail/memory/panels.hpp).
//
// Implementation: detail/layer/decoder_steps.hpp.
#pragma once

#include <cstddef>

#include <ladon/detail/attention/capture.hpp>
#include <ladon/detail/layer/decoder_steps.hpp>
#include <ladon/detail/memory/call_memory.hpp>
#include <ladon/detail/target/reject.hpp>
#include <ladon/layer_config.hpp>
#include <ladon/mask.hpp>
#include <ladon/options.hpp>
#include <ladon/position.hpp>
#include <ladon/score.hpp>
#include <ladon/shape.hpp>
#include <ladon/views.hpp>
#include <ladon/weights.hpp>

namespace ladon::inline LADON_ABI {

// The weights of a decoder layer. The linear maps and the norms have the names of PyTorch's TransformerDecoderLayer.
// self_attention is PyTorch's self_attn, and cross_attention is PyTorch's multihead_attn. If Config.gated is true, the
// feed-forward network has an additional linear map, `gate`.
template <Shape S, LayerConfig Config, class Layout>
struct DecoderLayerWeights {
  using Linears = FeedForwardLinears<S, Config, Layout::order, typename Layout::Precision>;
  typename Layout::template Weights<S> self_attention;
  typename Layout::template Weights<S> cross_attention;
  typename Linears::First linear1;
  typename Linears::Second linear2;
  Norm<S.model, Config.norm_kind> norm1;
  Norm<S.model, Config.norm_kind> norm2;
  Norm<S.model, Config.norm_kind> norm3;
};
template <Shape S, LayerConfig Config, class Layout>
  requires(Config.gated)
struct DecoderLayerWeights<S, Config, Layout> {
  using Linears = FeedForwardLinears<S, Config, Layout::order, typename Layout::Precision>;
  typename Layout::template Weights<S> self_attention;
  typename Layout::template Weights<S> cross_attention;
  typename Linears::First gate;
  typename Linears::First linear1;
  typename Linears::Second linear2;
  Norm<S.model, Config.norm_kind> norm1;
  Norm<S.model, Config.norm_kind> norm2;
  Norm<S.model, Config.norm_kind> norm3;
};

// The options of a run. `self` has the options of self-attention, and `memory` has the options of the attention to the
// memory. Both are RunOptions: active lengths, and the data of the mask, the score and the position encoding
// (options.hpp).
//
// Both attentions have the same queries, so memory.queries is ignored. The attention to the memory has no position
// encoding, because the memory's tokens have no positions relative to the queries.
template <Shape S, std::size_t Memory, class SelfMask, class MemoryMask, class Score,
          position::Policy Position = position::None>
struct DecoderOptions {
  RunOptions<S, SelfMask, Score, Position> self{};
  RunOptions<memory_shape<S, Memory>(), MemoryMask, Score, position::None> memory{};
};

// The arrays of the caller that receive a layer's attention weights: `self` [heads][queries][queries] for
// self-attention, and `memory` [heads][queries][Memory] for the attention to the memory. If a pointer is null, the
// weights of that attention are not written.
struct DecoderMaps {
  float* self = nullptr;
  float* memory = nullptr;
};

// Declares the overload of `run` for options that DecoderOptions does not have, as LADON_REJECT_OPTIONS does
// (options.hpp).
#define LADON_MISTAKEN_DECODER_OPTIONS                                                                               \
  "ladon: these options do not exist here: the options of a decoder are {.self, .memory}, in this order; both take " \
  "the "                                                                                                             \
  "options {.tokens, .queries, .keys, .mask, .sinks, .position}"
#define LADON_REJECT_DECODER_OPTIONS(...) LADON_REJECT(LADON_MISTAKEN_DECODER_OPTIONS) __VA_ARGS__ LADON_REJECTED

// A single decoder layer. The class Decoder computes a stack of layers. `Memory` is the largest number of tokens in the
// memory. The usual SelfMask is mask::Causal. `Position` is the position encoding of self-attention.
template <Shape ShapeGiven, std::size_t Memory, LayerConfig Config, mask::Policy SelfMask = mask::Causal,
          mask::Policy MemoryMask = mask::None, class Layout = layout::InProj, class Score = score::Scaled,
          position::Policy Position = position::None, class Target = detail::simd::NativeVectors>
struct DecoderLayer {
  static_assert(valid<ShapeGiven>());
  static constexpr Shape shape = ShapeGiven.complete();
  static_assert(shape.queries == shape.keys,
                "ladon: a decoder attends to itself, so it has as many keys as queries; the memory's length is apart");
  static_assert(shape.key_model == shape.model && shape.value_model == shape.model,
                "ladon: a decoder's keys and values come from tokens as wide as the model, and so does its memory");
  static_assert(Memory > 0, "ladon: a decoder needs a memory of at least one token");
  static_assert(Config.feed_forward > 0, "ladon: a decoder layer needs the hidden width of its feed-forward network");
  static constexpr Shape cross = memory_shape<shape, Memory>();
  static_assert(valid<cross>());

  using Weights = DecoderLayerWeights<shape.with_one_token(), Config, Layout>;
  using Workspace = DecoderWorkspace<shape, Memory, Config, Target, typename Layout::Precision>;
  using Options = DecoderOptions<shape, Memory, SelfMask, MemoryMask, Score, Position>;
  using Maps = DecoderMaps;
  using Input = MatrixView<const float, shape.queries, shape.model>;
  using MemoryInput = MatrixView<const float, Memory, shape.model>;
  using Output = MatrixView<float, shape.queries, shape.model>;
  template <class Simd>
  using Steps = detail::DecoderSteps<shape, Memory, Config, Weights, Score, Position, Target, Simd>;

  // Computes `y` [queries][model] from `x` [queries][model] and `memory` [Memory][model].
  //
  // - Lengths: options.self sets how many tokens of `x` are active, and options.memory.keys sets how many tokens of
  //   `memory` are active.
  // - Aliasing: `y` may be the same array as `x`. Apart from this case, no two arguments may overlap.
  // - Workspace: the caller owns the workspace, aligned to 64 bytes. Two concurrent runs need two workspaces.
  // - Errors: a length that exceeds the shape breaks a precondition (checks.hpp).
  static constexpr void run(Input x, MemoryInput memory, const Weights& weights, Output y, Workspace& workspace,
                            const Options& options = {}) noexcept {
    run_capturing(x, memory, weights, y, workspace, options, detail::CaptureNone{}, detail::CaptureNone{});
  }
  // Computes `y` like the function above, and writes the attention weights to `maps`.
  static constexpr void run(Input x, MemoryInput memory, const Weights& weights, Output y, Workspace& workspace,
                            const Options& options, const Maps& maps) noexcept {
    run_capturing(x, memory, weights, y, workspace, options, detail::CaptureWanted<shape>{maps.self},
                  detail::CaptureWanted<cross>{maps.memory});
  }

  // Returns the active lengths of self-attention and of the attention to the memory. Decoder calls this function, too.
  static constexpr detail::DecoderLengths lengths(const Options& options) noexcept {
    const Lengths self = options.self.lengths();
    return {self, {self.queries, options.memory.lengths().keys}};
  }

  // Checks the memory of a run. Decoder calls this function, too.
  static constexpr void expect_memory(detail::Caller caller, Input x, MemoryInput memory, Output y,
                                      const detail::DecoderLengths& active, const Workspace& workspace) noexcept {
    detail::expect_memory(caller,
                          {{y.data, active.self.queries * shape.model},
                           {x.data, active.self.longer() * shape.model},
                           {{memory.data, active.memory.keys * shape.model}}},
                          workspace);
  }

  LADON_REJECT_DECODER_OPTIONS(run(Input, MemoryInput, const Weights&, Output, const Workspace&, ...));

 private:
  template <class CaptureSelf, class CaptureMemory>
  static constexpr void run_capturing(Input x, MemoryInput memory, const Weights& weights, Output y,
                                      Workspace& workspace, const Options& options, CaptureSelf capture_self,
                                      CaptureMemory capture_memory) noexcept {
    const detail::DecoderLengths active = lengths(options);
    expect_memory(detail::caller_of(options.self), x, memory, y, active, workspace);
    float* const panels = workspace.tokens.shared.x.data;
    detail::simd::with_packs<Target>([&]<class Simd>(Simd) {
      Steps<Simd>::Self::queries_in(x.data, active.self.longer(), panels);
      Steps<Simd>::Cross::template context_in<shape.model>(memory.data, active.memory.keys, workspace.memory.data,
                                                           workspace.memory_input);
      Steps<Simd>::run(weights, active, options, workspace, capture_self, capture_memory);
      Steps<Simd>::Self::queries_out(panels, active.self.queries, y.data);
    });
  }
};

}  // namespace ladon::inline LADON_ABI
