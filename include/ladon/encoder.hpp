// A stack of encoder layers: into panels once, every layer in place, out of panels once.
#pragma once

#include <array>
#include <cstddef>
#include <type_traits>

#include <ladon/encoder_layer.hpp>

namespace ladon::inline LADON_ABI {

// Whether one more norm follows the last layer, as pre-LN stacks have it.
enum class FinalNorm { without, with };

template <std::size_t Layers, class Layer, class Norm, FinalNorm F>
struct StackWeights {
  std::array<Layer, Layers> layers;
};
template <std::size_t Layers, class Layer, class Norm>
struct StackWeights<Layers, Layer, Norm, FinalNorm::with> {
  std::array<Layer, Layers> layers;
  Norm norm;
};

// Contract as MultiHeadAttention's. Where fewer queries than keys are active, only the last layer leaves the others
// out: every layer before it needs them as keys of the next.
template <std::size_t Layers, Shape ShapeGiven, LayerForm Form, mask::Policy Mask = mask::None,
          FinalNorm Final = FinalNorm::without, class Layout = layout::InProj, class Score = score::Scaled,
          class Target = simd::Default>
struct Encoder {
  using Layer = EncoderLayer<ShapeGiven, Form, Mask, Layout, Score, Target>;
  static constexpr Shape shape = Layer::shape;
  static_assert(Layers > 0, "ladon: an encoder needs at least one layer");

  using Weights = StackWeights<Layers, typename Layer::Weights, Norm<shape.model, Form.norm_kind>, Final>;
  using Workspace = typename Layer::Workspace;
  using CachedWorkspace = typename Layer::CachedWorkspace;
  using Caches = std::array<typename Layer::Cache, Layers>;
  using Options = typename Layer::Options;
  using Input = typename Layer::Input;
  using Output = typename Layer::Output;
  using Maps = std::array<float*, Layers>;  // a map [heads][queries][keys] a layer, null where none is wanted

  static constexpr void run(Input x, const Weights& weights, Output y, Workspace& workspace,
                            const Options& options = {}) noexcept {
    run_capturing(x, weights, y, workspace, options, [](std::size_t, auto layer) { kernel::CaptureNone{}(layer); });
  }
  static constexpr void run(Input x, const Weights& weights, Output y, Workspace& workspace, const Options& options,
                            const Maps& attention) noexcept {
    run_capturing(x, weights, y, workspace, options,
                  [&](std::size_t i, auto layer) { kernel::CaptureWanted<shape>{attention[i]}(layer); });
  }

  // As EncoderLayer::extend, with a cache a layer.
  static constexpr void extend(Input x, Caches& caches, const Weights& weights, Output y, CachedWorkspace& workspace,
                               const Options& options = {}) noexcept {
    const std::size_t tokens = options.lengths().queries;
    if (tokens == 0) return;
    float* const panels = workspace.attention.x.data;
    simd::with_packs<Target>([&]<class Simd>(Simd) {
      using Steps = kernel::LayerSteps<shape, Form, typename Layer::Weights, Score, Target, Simd>;
      Steps::Attention::queries_in(x.data, tokens, panels);
      for (std::size_t i = 0; i < Layers; ++i) Steps::extend(weights.layers[i], tokens, options, caches[i], workspace);
      if constexpr (Final == FinalNorm::with) Steps::Sublayers::norm_all(weights.norm, panels, tokens, panels);
      Steps::Attention::queries_out(panels, tokens, y.data);
    });
  }

 private:
  // with_capture(i, layer) calls layer with what captures the attention of layer i.
  template <class WithCapture>
  static constexpr void run_capturing(Input x, const Weights& weights, Output y, Workspace& workspace,
                                      const Options& options, WithCapture with_capture) noexcept {
    static_assert(shape.queries == shape.keys,
                  "ladon: an encoder attends to itself, so it has as many keys as queries; where keys is the capacity "
                  "of a cache, extend");
    const Lengths lengths = options.lengths();
    const Lengths inner{lengths.longer(), lengths.keys};
    float* const panels = workspace.attention.x.data;
    simd::with_packs<Target>([&]<class Simd>(Simd) {
      using Steps = kernel::LayerSteps<shape, Form, typename Layer::Weights, Score, Target, Simd>;
      Steps::Attention::queries_in(x.data, inner.queries, panels);
      for (std::size_t i = 0; i < Layers; ++i) {
        const Lengths active = i + 1 < Layers ? inner : lengths;
        with_capture(i, [&](auto capture) { Steps::run(weights.layers[i], active, options, workspace, capture); });
      }
      if constexpr (Final == FinalNorm::with) Steps::Sublayers::norm_all(weights.norm, panels, lengths.queries, panels);
      Steps::Attention::queries_out(panels, lengths.queries, y.data);
    });
  }
};

}  // namespace ladon::inline LADON_ABI
