// One decoder layer: attention to its own tokens, attention to a memory (what an encoder gave), feed-forward, each with
// its residual and norm.
//
//     post-LN:  x = norm1(x + self(x));  x = norm2(x + cross(x, memory));  x = norm3(x + feed_forward(x))
//     pre-LN:   x = x + self(norm1(x));  x = x + cross(norm2(x), memory);  x = x + feed_forward(norm3(x))
//
// The memory itself is not normalised. As in the encoder, all of it works on panels.
#pragma once

#include <cstddef>

#include <ladon/detail/attention/capture.hpp>
#include <ladon/detail/layer/decoder_steps.hpp>
#include <ladon/layer_config.hpp>
#include <ladon/mask.hpp>
#include <ladon/options.hpp>
#include <ladon/position.hpp>
#include <ladon/score.hpp>
#include <ladon/shape.hpp>
#include <ladon/views.hpp>
#include <ladon/weights.hpp>

namespace ladon::inline LADON_ABI {

// PyTorch's TransformerDecoderLayer, where cross_attention is called multihead_attn.
template <Shape S, LayerConfig Config, class Layout>
struct DecoderLayerWeights {
  using Linears = FeedForwardLinears<S, Config, Layout::order>;
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
  using Linears = FeedForwardLinears<S, Config, Layout::order>;
  typename Layout::template Weights<S> self_attention;
  typename Layout::template Weights<S> cross_attention;
  typename Linears::First gate;
  typename Linears::First linear1;
  typename Linears::Second linear2;
  Norm<S.model, Config.norm_kind> norm1;
  Norm<S.model, Config.norm_kind> norm2;
  Norm<S.model, Config.norm_kind> norm3;
};

// `self` has the lengths, mask and so on of the tokens, `memory` those of the memory: who asks there is who asked
// before, so memory.queries is not looked at. The memory has no position encoding: its tokens have no place among those
// that ask.
template <Shape S, std::size_t Memory, class SelfMask, class MemoryMask, class Score,
          position::Policy Position = position::None>
struct DecoderOptions {
  RunOptions<S, SelfMask, Score, Position> self{};
  RunOptions<memory_shape<S, Memory>(), MemoryMask, Score, position::None> memory{};
};

// Where the attention maps of a layer go, null where one is not wanted: self [heads][queries][queries], memory
// [heads][queries][memory].
struct DecoderMaps {
  float* self = nullptr;
  float* memory = nullptr;
};

// A layer by itself; Decoder runs a stack of them. y [queries][model] from x [queries][model] and memory
// [Memory][model]. Contract as MultiHeadAttention's. mask::Causal as SelfMask is the usual one.
template <Shape ShapeGiven, std::size_t Memory, LayerConfig Config, mask::Policy SelfMask = mask::Causal,
          mask::Policy MemoryMask = mask::None, class Layout = layout::InProj, class Score = score::Scaled,
          position::Policy Position = position::None, class Target = detail::simd::Default>
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
  using Workspace = DecoderWorkspace<shape, Memory, Config, Target>;
  using Options = DecoderOptions<shape, Memory, SelfMask, MemoryMask, Score, Position>;
  using Maps = DecoderMaps;
  using Input = Matrix<const float, shape.queries, shape.model>;
  using MemoryInput = Matrix<const float, Memory, shape.model>;
  using Output = Matrix<float, shape.queries, shape.model>;
  template <class Simd>
  using Steps = detail::DecoderSteps<shape, Memory, Config, Weights, Score, Position, Target, Simd>;

  static constexpr void run(Input x, MemoryInput memory, const Weights& weights, Output y, Workspace& workspace,
                            const Options& options = {}) noexcept {
    run_capturing(x, memory, weights, y, workspace, options, detail::CaptureNone{}, detail::CaptureNone{});
  }
  static constexpr void run(Input x, MemoryInput memory, const Weights& weights, Output y, Workspace& workspace,
                            const Options& options, const Maps& maps) noexcept {
    run_capturing(x, memory, weights, y, workspace, options, detail::CaptureWanted<shape>{maps.self},
                  detail::CaptureWanted<cross>{maps.memory});
  }

  static constexpr detail::DecoderLengths lengths(const Options& options) noexcept {
    const Lengths self = options.self.lengths();
    return {self, {self.queries, options.memory.lengths().keys}};
  }

 private:
  template <class CaptureSelf, class CaptureMemory>
  static constexpr void run_capturing(Input x, MemoryInput memory, const Weights& weights, Output y,
                                      Workspace& workspace, const Options& options, CaptureSelf capture_self,
                                      CaptureMemory capture_memory) noexcept {
    const detail::DecoderLengths active = lengths(options);
    float* const panels = workspace.tokens.shared.x.data;
    detail::simd::with_packs<Target>([&]<class Simd>(Simd) {
      Steps<Simd>::Self::queries_in(x.data, active.self.longer(), panels);
      Steps<Simd>::Cross::template context_in<shape.model>(memory.data, active.memory.keys, workspace.memory.data);
      Steps<Simd>::run(weights, active, options, workspace, capture_self, capture_memory);
      Steps<Simd>::Self::queries_out(panels, active.self.queries, y.data);
    });
  }
};

}  // namespace ladon::inline LADON_ABI
