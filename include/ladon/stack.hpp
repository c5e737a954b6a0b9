// SPDX-License-Identifier: Apache-2.0
// A stack of equal layers, such as Encoder. A stack may have layers of your own, with the members of EncoderLayer
// (encoder.hpp). Usually such a layer derives from EncoderLayer and replaces `Steps`, which has these members:
//     input(w, active, shared, share)    computes the input of attention for the first `active` tokens
//     run(w, call, shared, scratch)      computes the phases in call.share, a thread's part of the call (threads.hpp)
//
// The layer's first phase has the number call.first. shared.x holds the tokens in panels, [panels][model][width].
// tests/test_stack.cpp is an example.
#pragma once

#include <ladon/detail/config/quiet_begin.hpp>

#include <array>
#include <cstddef>
#include <type_traits>

#include <ladon/detail/attention/capture.hpp>
#include <ladon/detail/layer/stack_steps.hpp>
#include <ladon/run_options.hpp>
#include <ladon/threads.hpp>

namespace LADON_NAMESPACE {

// The weights of all layers, and of the final norm, if any.
template <std::size_t Layers, class LayerWeights, class Norm, FinalNorm F>
struct StackWeights {
  std::array<LayerWeights, Layers> layers;
  LADON_NO_UNIQUE_ADDRESS std::conditional_t<F == FinalNorm::with, Norm, detail::NoNorm> norm{};
};

template <class LayerGiven, std::size_t Layers, FinalNorm Final = FinalNorm::without>
struct Stack {
  using Layer = LayerGiven;
  static_assert(Layers > 0, "ladon: a stack needs at least one layer");
  static constexpr Shape shape = Layer::shape;
  using Weights = StackWeights<Layers, typename Layer::Weights, typename NormOf<Layer::model>::Type, Final>;
  using Shared = typename Layer::Shared;
  using Scratch = typename Layer::Scratch;
  using Workspace = ladon::Workspace<Shared, Scratch>;
  template <std::size_t Threads>
  using TeamWorkspace = ladon::TeamWorkspace<Shared, Scratch, Threads>;
  using ExtendShared = typename Layer::ExtendShared;
  using ExtendScratch = typename Layer::ExtendScratch;
  using CachedWorkspace = ladon::Workspace<ExtendShared, ExtendScratch>;
  template <std::size_t Threads>
  using CachedTeamWorkspace = ladon::TeamWorkspace<ExtendShared, ExtendScratch, Threads>;
  using Caches = typename detail::CachesOf<Layer, Layers>::Type;  // an array, or CachesOfKinds
  using Options = typename Layer::Options;
  using Input = typename Layer::Input;
  using Output = typename Layer::Output;
  // An element for each layer. A null pointer receives nothing.
  using Maps = std::array<typename Layer::MapPointer, Layers>;
  template <Stage G>
  using Captures = std::array<typename Layer::template CapturePointer<G>, Layers>;

  using Steps = detail::StackSteps<Layer, Layers>;
  static constexpr std::size_t phases = Steps::phases;
  static constexpr std::size_t parts(std::size_t phase) noexcept { return Layer::parts(phase); }

  // Computes `y` [queries][model] from `x` [queries][model]. `maps` is Maps or Captures<G>. Only the last layer skips
  // inactive queries. The queries of other layers become keys of the next layer.
  template <detail::MemoryOf<Shared, Scratch> Memory, detail::MapsOf<Layers> MapsType = detail::NoCapture>
  static constexpr void run(Input x, const Weights& weights, Output y, Memory&& memory, const Options& options = {},
                            const MapsType& maps = {}) noexcept {
    Layer::expect_run();
    Steps::run(weights.layers.data(), weights.norm, {x.data, y.data}, options, memory, detail::no_caches,
               captures_of(maps));
  }

  // Computes the next tokens of a text, like MultiHeadAttention::extend. Layer i uses caches[i], or its cache in
  // CachesOfKinds.
  template <detail::MemoryOf<ExtendShared, ExtendScratch> Memory, detail::MapsOf<Layers> MapsType = detail::NoCapture>
  static constexpr void extend(Input x, Caches& caches, const Weights& weights, Output y, Memory&& memory,
                               const Options& options = {}, const MapsType& maps = {}) noexcept {
    detail::expect_room<Layer::shape, typename Options::MaskType, typename Layer::Cache>();
    detail::expect_room_of_kinds<Layer>();
    const auto wrap = []<class Cache>(Cache& cache, std::size_t) { return detail::EncoderCaches<Cache>{cache}; };
    Steps::run(weights.layers.data(), weights.norm, {x.data, y.data}, options, memory,
               detail::caches_of_layers<Layer>(caches, wrap), captures_of(maps), caches);
  }

  LADON_REJECT_MISTAKES(LADON_MISTAKEN_OPTIONS, run, "x, weights, y, workspace, options, maps", Input, const Weights&,
                        Output, detail::AnyMemory<Shared, Scratch>);
  LADON_REJECT_MISTAKES(LADON_MISTAKEN_OPTIONS, extend, "x, caches, weights, y, cached workspace, options, maps", Input,
                        Caches&, const Weights&, Output, detail::AnyMemory<ExtendShared, ExtendScratch>);

 protected:
  static constexpr auto captures_of(detail::NoCapture none) noexcept {
    return [=](std::size_t) { return Layer::captures(none); };
  }
  template <class Map>
  static constexpr auto captures_of(const std::array<Map, Layers>& maps) noexcept {
    return [&](std::size_t i) { return Layer::captures(maps[i]); };
  }
};

}  // namespace LADON_NAMESPACE
#include <ladon/detail/config/quiet_end.hpp>
