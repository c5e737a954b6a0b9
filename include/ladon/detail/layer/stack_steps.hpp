// SPDX-License-Identifier: Apache-2.0
// A stack of layers: converts rows into panels, computes all layers in place, and converts the result into rows. A
// single layer is a stack of one. stack.hpp lists the members of `Layer`.
#pragma once

#include <cstddef>
#include <tuple>
#include <type_traits>

#include <ladon/detail/layer/encoder_steps.hpp>
#include <ladon/detail/panel/pointer_checks.hpp>
#include <ladon/detail/panel/thread_share.hpp>

namespace LADON_NAMESPACE::detail {

// The caller's rows. `memory` is the encoder's output, for decoders.
struct StackRows {
  const float* x;
  float* y;
  const float* memory = nullptr;
};

// The caches of one layer.
template <class Cache>
struct EncoderCaches {
  Cache& text;
};
template <class Cache, class MemoryCache>
struct DecoderCaches {
  Cache& text;
  const MemoryCache& memory;
};

// Calls `attend` with what receives the attention weights of a layer (detail/attention/capture.hpp).
template <class CaptureOf>
struct CaptureAlways {
  CaptureOf capture_of;
  template <class F>
  constexpr void operator()(F attend) const noexcept {
    attend(capture_of);
  }
};
template <class Self, class Memory>
struct CapturesOfDecoder {
  Self self;
  Memory memory;
};

// The argument `maps` of a stack: an element for each layer, or NoCapture.
template <class Maps, std::size_t Layers>
concept MapsOf = std::is_same_v<Maps, NoCapture> || std::tuple_size<Maps>::value == Layers;

struct NoNorm {};

template <class Layer, std::size_t Layers>
struct StackSteps {
  static constexpr Shape shape = Layer::shape;
  static constexpr std::size_t phases = 1 + Layer::layer_phases * Layers;
  using Weights = typename Layer::Weights;
  using Options = typename Layer::Options;

  // Computes rows.y from rows.x. `layers` points to the weights of all layers. `norm` is the norm after the last layer,
  // or NoNorm. captures_of(i) returns the captures of layer i. Only the last layer skips inactive queries, because the
  // next layer needs them as keys.
  template <class Norm, class Memory, class CapturesOf>
  static constexpr void run(const Weights* layers, const Norm& norm, StackRows rows, const Options& options,
                            Memory& memory, CapturesOf captures_of) noexcept {
    const Caller caller = caller_of(Layer::own(options));
    const auto share = share_of(memory, caller, phases);
    const LayerLengths last = Layer::lengths(options);
    const std::size_t longer = last.self.longer();
    const LayerLengths inner{{longer, last.self.keys}, {longer, last.memory.keys}};
    auto& shared = memory.shared;
    expect_memory(caller,
                  {{rows.y, last.self.queries * shape.model},
                   {rows.x, longer * shape.model},
                   {{rows.memory, last.memory.keys * shape.model}}},
                  shared, memory.scratch);
    vec::with_packs<typename Layer::Vectors>([&]<class Simd>(Simd) {
      using Steps = typename Layer::template Steps<Simd>;
      if (share.has(0)) {
        Steps::SelfAttention::tokens_to_panels(rows.x, longer, shared.x.data, share);
        if constexpr (Layer::takes_memory) Steps::enter_memory(rows.memory, last.memory.keys, shared, share);
        Steps::input(layers[0], longer, shared, share);
      }
      for (std::size_t i = 0; i < Layers; ++i) {
        const bool is_last = i + 1 == Layers;
        const std::size_t first = 1 + i * Layer::layer_phases;
        Steps::run(layers[i], is_last ? last : inner, options, shared, memory.scratch, captures_of(i), share, first);
        if (!is_last && share.has(first + Layer::layer_phases - 1)) Steps::input(layers[i + 1], longer, shared, share);
      }
      if (share.has(phases - 1)) leave<Steps>(norm, last.self.queries, shared, rows.y, share);
    });
  }

  // Like `run`, for the next tokens of a text. caches_of(i) returns the caches of layer i. `owned` are the caches.
  template <class Norm, class Memory, class CachesOf, class CapturesOf, class... Owned>
  static constexpr void extend(const Weights* layers, const Norm& norm, StackRows rows, const Options& options,
                               Memory& memory, CachesOf caches_of, CapturesOf captures_of,
                               const Owned&... owned) noexcept {
    const Caller caller = caller_of(Layer::own(options));
    const auto share = share_of(memory, caller, phases);
    const std::size_t tokens = Layer::own(options).lengths().queries;
    if (tokens == 0) return;
    auto& shared = memory.shared;
    expect_memory(caller, {{rows.y, tokens * shape.model}, {rows.x, tokens * shape.model}}, owned..., shared,
                  memory.scratch);
    vec::with_packs<typename Layer::Vectors>([&]<class Simd>(Simd) {
      using Steps = typename Layer::template Steps<Simd>;
      if (share.has(0)) {
        Steps::SelfAttention::tokens_to_panels(rows.x, tokens, shared.x.data, share);
        Steps::input(layers[0], tokens, shared, share);
      }
      for (std::size_t i = 0; i < Layers; ++i) {
        const std::size_t first = 1 + i * Layer::layer_phases;
        const auto caches = caches_of(i);
        const LayerLengths lengths = Layer::lengths(options, caches);
        Steps::extend(layers[i], lengths, options, caches, shared, memory.scratch, captures_of(i), share, first);
        const bool is_last = i + 1 == Layers;
        if (!is_last && share.has(first + Layer::layer_phases - 1)) Steps::input(layers[i + 1], tokens, shared, share);
      }
      if (share.has(phases - 1)) leave<Steps>(norm, tokens, shared, rows.y, share);
    });
  }

 private:
  // Applies the final norm, if any, to the tokens in shared.x, and converts them into the rows of `y`.
  template <class Steps, class Norm, class CallShare>
  static constexpr void leave(const Norm& norm, std::size_t queries, auto& shared, float* y, CallShare share) noexcept {
    float* const panels = shared.x.data;
    if constexpr (!std::is_same_v<Norm, NoNorm>) Steps::Sublayers::norm_all(norm, panels, queries, panels, share);
    Steps::SelfAttention::panels_to_rows(panels, queries, y, share);
  }
};

}  // namespace LADON_NAMESPACE::detail
