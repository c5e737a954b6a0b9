// A stack of encoder layers: into panels once, every layer in place, out of panels once.
#pragma once

#include <array>
#include <cstddef>
#include <type_traits>

#include <ladon/checks.hpp>
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
template <std::size_t Layers, Shape ShapeGiven, LayerConfig Config, mask::Policy Mask = mask::None,
          FinalNorm Final = FinalNorm::without, class Layout = layout::InProj, class Score = score::Scaled,
          position::Policy Position = position::None, class Target = detail::simd::Default>
struct Encoder {
  using Layer = EncoderLayer<ShapeGiven, Config, Mask, Layout, Score, Position, Target>;
  static constexpr Shape shape = Layer::shape;
  static_assert(Layers > 0, "ladon: an encoder needs at least one layer");

  using Weights = StackWeights<Layers, typename Layer::Weights, Norm<shape.model, Config.norm_kind>, Final>;
  using Shared = typename Layer::Shared;
  using Scratch = typename Layer::Scratch;
  using Workspace = typename Layer::Workspace;
  template <std::size_t Threads>
  using TeamWorkspace = typename Layer::template TeamWorkspace<Threads>;
  using CachedWorkspace = typename Layer::CachedWorkspace;
  using Caches = std::array<typename Layer::Cache, Layers>;
  using Options = typename Layer::Options;
  using Input = typename Layer::Input;
  using Output = typename Layer::Output;
  using Maps = std::array<float*, Layers>;  // a map [heads][queries][keys] a layer, null where none is wanted

  static constexpr std::size_t phases = 1 + 2 * Layers;
  static constexpr std::size_t parts(std::size_t phase) noexcept { return Layer::parts(phase); }

  static constexpr void run(Input x, const Weights& weights, Output y, Workspace& workspace,
                            const Options& options = {}) noexcept {
    compute(detail::WholeCall{}, x, weights, y, workspace.shared, workspace.scratch, options, capture_none);
  }
  static constexpr void run(Input x, const Weights& weights, Output y, Workspace& workspace, const Options& options,
                            const Maps& attention) noexcept {
    compute(detail::WholeCall{}, x, weights, y, workspace.shared, workspace.scratch, options, capture_in(attention));
  }

  static constexpr void run_phase(std::size_t phase, Share share, Input x, const Weights& weights, Output y,
                                  Shared& shared, Scratch& scratch, const Options& options = {}) noexcept {
    LADON_EXPECTS(phase < phases, "ladon: there are fewer phases");
    compute(detail::PartOfCall{phase, share}, x, weights, y, shared, scratch, options, capture_none);
  }
  static constexpr void run_phase(std::size_t phase, Share share, Input x, const Weights& weights, Output y,
                                  Shared& shared, Scratch& scratch, const Options& options,
                                  const Maps& attention) noexcept {
    LADON_EXPECTS(phase < phases, "ladon: there are fewer phases");
    compute(detail::PartOfCall{phase, share}, x, weights, y, shared, scratch, options, capture_in(attention));
  }

  // As EncoderLayer::extend, with a cache a layer.
  static constexpr void extend(Input x, Caches& caches, const Weights& weights, Output y, CachedWorkspace& workspace,
                               const Options& options = {}) noexcept {
    const std::size_t tokens = options.lengths().queries;
    if (tokens == 0) return;
    float* const panels = workspace.shared.x.data;
    detail::simd::with_packs<Target>([&]<class Simd>(Simd) {
      using Steps = detail::EncoderSteps<shape, Config, typename Layer::Weights, Score, Position, Target, Simd>;
      Steps::Attention::queries_in(x.data, tokens, panels);
      for (std::size_t i = 0; i < Layers; ++i) Steps::extend(weights.layers[i], tokens, options, caches[i], workspace);
      if constexpr (Final == FinalNorm::with) Steps::Sublayers::norm_all(weights.norm, panels, tokens, panels);
      Steps::Attention::queries_out(panels, tokens, y.data);
    });
  }

 private:
  // Called with (i, layer), these call layer with what captures the attention of layer i.
  static constexpr auto capture_none = [](std::size_t, auto layer) { detail::CaptureNone{}(layer); };
  static constexpr auto capture_in(const Maps& maps) noexcept {
    return [&](std::size_t i, auto layer) { detail::CaptureWanted<shape>{maps[i]}(layer); };
  }

  template <class Part, class WithCapture>
  static constexpr void compute(Part part, Input x, const Weights& weights, Output y, Shared& shared, Scratch& scratch,
                                const Options& options, WithCapture with_capture) noexcept {
    static_assert(shape.queries == shape.keys,
                  "ladon: an encoder attends to itself, so it has as many keys as queries; where keys is the capacity "
                  "of a cache, extend");
    const Lengths lengths = options.lengths();
    const Lengths inner{lengths.longer(), lengths.keys};
    detail::simd::with_packs<Target>([&]<class Simd>(Simd) {
      using Steps = detail::EncoderSteps<shape, Config, typename Layer::Weights, Score, Position, Target, Simd>;
      if (part.has(0)) {
        Steps::Attention::queries_in(x.data, inner.queries, shared.x.data, part);
        Steps::norm_input(weights.layers[0], inner.queries, shared, part);
      }
      for (std::size_t i = 0; i < Layers; ++i) {
        const Lengths active = i + 1 < Layers ? inner : lengths;
        if (part.has(1 + 2 * i)) {
          with_capture(i, [&](auto capture) {
            Steps::attend(weights.layers[i], active, options, shared, scratch, capture, part);
          });
        }
        if (part.has(2 + 2 * i)) {
          Steps::after_heads(weights.layers[i], active.queries, shared, scratch, part);
          if (i + 1 < Layers) Steps::norm_input(weights.layers[i + 1], inner.queries, shared, part);
        }
      }
      if (part.has(2 * Layers)) leave<Steps>(part, weights, lengths.queries, shared, y);
    });
  }

  // Out of the last layer.
  template <class Steps, class Part>
  static constexpr void leave(Part part, const Weights& weights, std::size_t queries, Shared& shared,
                              Output y) noexcept {
    float* const panels = shared.x.data;
    if constexpr (Final == FinalNorm::with) Steps::Sublayers::norm_all(weights.norm, panels, queries, panels, part);
    Steps::Attention::queries_out(panels, queries, y.data, part);
  }
};

}  // namespace ladon::inline LADON_ABI
