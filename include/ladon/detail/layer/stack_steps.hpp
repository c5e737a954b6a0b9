// SPDX-License-Identifier: Apache-2.0
// A stack of layers: converts rows into panels, computes all layers in place, and converts the result into rows. A
// single layer is a stack of one. stack.hpp says which members `Layer` needs.
#pragma once

#include <array>
#include <cstddef>
#include <tuple>
#include <type_traits>

#include <ladon/detail/layer/encoder_steps.hpp>
#include <ladon/detail/panel/call_checks.hpp>
#include <ladon/key_value_cache.hpp>

namespace LADON_NAMESPACE::detail {

// The caller's rows. In a decoder, `memory` is the encoder's output.
struct StackRows {
  const float* x;
  float* y;
  const float* memory = nullptr;
};

template <class Self, class Memory>
struct CapturesOfDecoder {
  Self self;
  Memory memory;
};
template <class Self, class Memory>
CapturesOfDecoder(Self, Memory) -> CapturesOfDecoder<Self, Memory>;

// The argument `maps` of a stack: an element for each layer, or NoCapture.
template <class Maps, std::size_t Layers>
concept MapsOf = std::is_same_v<Maps, NoCapture> || std::tuple_size<Maps>::value == Layers;

struct NoNorm {};

// The caches of a stack. With Model::window_keys, layers with a window have rings.
template <class Layer, std::size_t Layers>
struct CachesOf {
  static constexpr std::size_t rings = value_of<Layer::model>.rings_of(Layers);
  static constexpr std::size_t room = rings == 0 ? 1 : Layer::model.window_keys;
  using Cache = typename Layer::Cache;
  using Ring = KeyValueCache<Layer::shape.for_cache(), Keep::latest, typename Layer::Vectors, room>;
  using Type =
      std::conditional_t<rings == 0 || rings == Layers, std::array<std::conditional_t<rings == 0, Cache, Ring>, Layers>,
                         CachesOfKinds<Cache, Ring, Layers, rings>>;
};

// Finds the cache of a layer among CachesOfKinds. wrap(cache, i) returns the caches of layer i.
template <class Layer, class Caches, class Wrap>
struct CachesByKind {
  Caches& caches;
  Wrap wrap;

  static constexpr bool is_ring(std::size_t i) noexcept { return value_of<Layer::model>.has_ring(i); }
  static constexpr std::size_t rings_of(std::size_t count) noexcept { return value_of<Layer::model>.rings_of(count); }
  constexpr auto ring(std::size_t i) const noexcept { return wrap(caches.rings[rings_of(i)], i); }
  // For layers without a ring. If layer i has a ring, call ring(i): this function returns another layer's cache.
  constexpr auto operator()(std::size_t i) const noexcept {
    const std::size_t others = i - rings_of(i), last = caches.others.size() - 1;
    return wrap(caches.others[others < last ? others : last], i);
  }
};

template <class Layer, class Caches, class Wrap>
constexpr auto caches_of_layers(Caches& caches, Wrap wrap) noexcept {
  if constexpr (requires { caches.rings; }) {
    return CachesByKind<Layer, Caches, Wrap>{caches, wrap};
  } else {
    return [&caches, wrap](std::size_t i) { return wrap(caches[i], i); };
  }
}

template <class Layer>
constexpr void expect_room_of_kinds() noexcept {
  constexpr const Model& model = value_of<Layer::model>;
  constexpr bool one_window = model.window_keys == 0 || model.has_one_window();
  static_assert(one_window, "ladon: with Model::window_keys, all windows of the kinds are equal");
  constexpr std::size_t needed = model.window_of_kinds() + Layer::shape.queries;
  constexpr bool has_room = model.window_keys == 0 || model.window_keys >= needed;
  static_assert(has_room, "ladon: Model::window_keys is too small: it must hold a window and the tokens of one call");
}

template <class Layer, std::size_t Layers>
struct StackSteps {
  static constexpr Shape shape = Layer::shape;
  static constexpr std::size_t phases = 1 + Layer::layer_phases * Layers;
  using Weights = typename Layer::Weights;
  using Options = typename Layer::Options;

  // Computes rows.y from rows.x. `norm` is the norm after the last layer, or NoNorm. caches_of(i) and captures_of(i)
  // return the caches and the captures of layer i. expect_memory checks `owned`, the caches. With NoCaches, only the
  // last layer skips inactive queries, because the queries of other layers become keys of the next layer.
  template <class Norm, class Memory, class CachesOf, class CapturesOf, class... Owned>
  static constexpr void run(const Weights* layers, const Norm& norm, StackRows rows, const Options& options,
                            Memory& memory, CachesOf caches_of, CapturesOf captures_of,
                            const Owned&... owned) noexcept {
    constexpr bool cached = decltype(caches_of(0))::cached;
    const Caller caller = caller_of(Layer::own(options));
    const auto share = share_of(memory, caller, phases);
    const LayerLengths last = Layer::lengths(options, caches_of(Layers - 1));
    const std::size_t longer = last.self.longer(), memory_tokens = cached ? 0 : last.memory.keys;
    if (cached && longer == 0) return;
    expect_memory(caller,
                  {{rows.y, last.self.queries * shape.model},
                   {rows.x, longer * shape.model},
                   {{rows.memory, memory_tokens * shape.model}}},
                  owned..., memory.shared, memory.scratch);
    const auto compute = [&]<class Steps>(Steps, std::size_t i, std::size_t first) LADON_INLINE_LAMBDA {
      const auto& own = Layer::options_of(options, i);
      const auto with = [&](auto caches) LADON_INLINE_LAMBDA {
        LayerLengths lengths = cached ? Layer::lengths(options, caches) : last;
        if (!cached && i + 1 < Layers) lengths.self.queries = lengths.memory.queries = longer;
        Steps::run(layers[i], LayerCall{lengths, own, caches, captures_of(i), share, first}, memory.shared,
                   memory.scratch);
      };
      if constexpr (requires { caches_of.ring(i); }) {
        if (caches_of.is_ring(i)) return with(caches_of.ring(i));
      }
      with(caches_of(i));
    };
    for_layers(layers, norm, rows, {longer, last.self.queries, memory_tokens}, memory.shared, share, compute);
  }

 private:
  // Computes the input of the attention of layer i.
  template <class Steps>
  static LADON_INLINE constexpr void input(const Weights* layers, std::size_t i, std::size_t active, auto& shared,
                                           auto share) noexcept {
    if constexpr (value_of<Layer::model>.has_unnormed_kind()) {
      if (value_of<Layer::model>.unnormed(i)) return Steps::input_without_norm(active, shared, share);
    }
    Steps::input(layers[i], active, shared, share);
  }

  struct Counts {
    std::size_t x;  // how many rows of x become panels
    std::size_t y;
    std::size_t memory;
  };

  // Calls compute(Steps, i, first) for each layer. `first` is the number of the layer's first phase.
  template <class Norm, class CallShare, class F>
  static LADON_INLINE constexpr void for_layers(const Weights* layers, const Norm& norm, StackRows rows, Counts tokens,
                                                auto& shared, CallShare share, F compute) noexcept {
    vec::with_packs<typename Layer::Vectors>([&]<class Simd>(Simd) {
      using Steps = typename Layer::template Steps<Simd>;
      if (share.has(0)) {
        Steps::SelfAttention::tokens_to_panels(rows.x, tokens.x, shared.x.data, share);
        if constexpr (requires { shared.memory; }) {
          Steps::CrossAttention::template context_to_panels<shape.model>(rows.memory, tokens.memory, shared.memory.data,
                                                                         shared.memory_input, share);
        }
        input<Steps>(layers, 0, tokens.x, shared, share);
      }
      for (std::size_t i = 0; i < Layers; ++i) {
        const std::size_t first = 1 + i * Layer::layer_phases;
        compute(Steps{}, i, first);
        if (i + 1 < Layers && share.has(first + Layer::layer_phases - 1))
          input<Steps>(layers, i + 1, tokens.x, shared, share);
      }
      if (share.has(phases - 1)) {
        float* const panels = shared.x.data;
        if constexpr (!std::is_same_v<Norm, NoNorm>) Steps::Sublayers::norm_all(norm, panels, tokens.y, panels, share);
        Steps::SelfAttention::panels_to_rows(panels, tokens.y, rows.y, share);
      }
    });
  }
};

}  // namespace LADON_NAMESPACE::detail
