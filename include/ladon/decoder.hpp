// SPDX-License-Identifier: Apache-2.0
// A stack of decoder layers. The memory is the output of an encoder. A run first converts the tokens and the memory
// from rows into panels (detail/memory/panels.hpp). The run then computes all layers in place. Finally, the run
// converts the result from panels into rows.
//
// Implementation: detail/layer/decoder_steps.hpp.
#pragma once

#include <array>
#include <cstddef>

#include <ladon/decoder_layer.hpp>
#include <ladon/encoder.hpp>

namespace ladon::inline LADON_ABI {

// A stack of `Layers` decoder layers (DecoderLayer). All layers attend to the same memory.
template <std::size_t Layers, Shape ShapeGiven, std::size_t Memory, LayerConfig Config,
          mask::Policy SelfMask = mask::Causal, mask::Policy MemoryMask = mask::None,
          FinalNorm Final = FinalNorm::without, class Layout = layout::InProj, class Score = score::Scaled,
          position::Policy Position = position::None, class Target = detail::simd::NativeVectors>
struct Decoder {
  using Layer = DecoderLayer<ShapeGiven, Memory, Config, SelfMask, MemoryMask, Layout, Score, Position, Target>;
  static constexpr Shape shape = Layer::shape;
  static_assert(Layers > 0, "ladon: a decoder needs at least one layer");

  using Weights = StackWeights<Layers, typename Layer::Weights, Norm<shape.model, Config.norm_kind>, Final>;
  using Workspace = typename Layer::Workspace;
  using Options = typename Layer::Options;
  using Input = typename Layer::Input;
  using MemoryInput = typename Layer::MemoryInput;
  using Output = typename Layer::Output;
  using Maps = std::array<DecoderMaps, Layers>;

  // Computes `y` [queries][model] from `x` [queries][model] and `memory` [Memory][model]. DecoderLayer::run describes
  // lengths, aliasing, workspace and errors. If fewer queries than keys are active, only the last layer skips the
  // tokens that are not active queries. Encoder::run gives the reason.
  static constexpr void run(Input x, MemoryInput memory, const Weights& weights, Output y, Workspace& workspace,
                            const Options& options = {}) noexcept {
    run_layers(x, memory, weights, y, workspace, options,
               [](std::size_t, auto layer) { layer(detail::CaptureNone{}, detail::CaptureNone{}); });
  }
  // Computes `y` like the function above, and writes the attention weights of layer i to maps[i].
  static constexpr void run(Input x, MemoryInput memory, const Weights& weights, Output y, Workspace& workspace,
                            const Options& options, const Maps& maps) noexcept {
    run_layers(x, memory, weights, y, workspace, options, [&](std::size_t i, auto layer) {
      layer(detail::CaptureWanted<shape>{maps[i].self}, detail::CaptureWanted<Layer::cross>{maps[i].memory});
    });
  }

  LADON_REJECT_DECODER_OPTIONS(run(Input, MemoryInput, const Weights&, Output, const Workspace&, ...));

 private:
  // Computes all layers. For each layer i, calls with_captures(i, layer). with_captures then calls `layer` with two
  // captures. The first capture is for self-attention, and the second capture is for the attention to the memory.
  template <class WithCaptures>
  static constexpr void run_layers(Input x, MemoryInput memory, const Weights& weights, Output y, Workspace& workspace,
                                   const Options& options, WithCaptures with_captures) noexcept {
    const detail::DecoderLengths last = Layer::lengths(options);
    Layer::expect_memory(detail::caller_of(options.self), x, memory, y, last, workspace);
    const std::size_t longer = last.self.longer();
    const detail::DecoderLengths inner{{longer, last.self.keys}, {longer, last.memory.keys}};
    float* const panels = workspace.tokens.shared.x.data;
    detail::simd::with_packs<Target>([&]<class Simd>(Simd) {
      using Steps = typename Layer::template Steps<Simd>;
      Steps::Self::queries_in(x.data, longer, panels);
      Steps::Cross::template context_in<shape.model>(memory.data, last.memory.keys, workspace.memory.data,
                                                     workspace.memory_input);
      for (std::size_t i = 0; i < Layers; ++i) {
        with_captures(i, [&](auto self, auto cross) {
          Steps::run(weights.layers[i], i + 1 < Layers ? inner : last, options, workspace, self, cross);
        });
      }
      if constexpr (Final == FinalNorm::with) {
        Steps::Sublayers::norm_all(weights.norm, panels, last.self.queries, panels);
      }
      Steps::Self::queries_out(panels, last.self.queries, y.data);
    });
  }
};

}  // namespace ladon::inline LADON_ABI
