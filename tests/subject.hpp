// Subjects: every instantiation under test behind one function pointer, so that what checks them is compiled once.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <type_traits>

#include <ladon/ladon.hpp>

namespace ladon_test {

using CausalAndPadding = decltype(ladon::mask::Causal{} & ladon::mask::Padding{});

enum class LayoutKind { in_proj, separate, in_out, per_head };

// One run of a subject. Weights come as pointers in the order of their struct: each weight, then its bias if
// it has one.
struct Call {
  const float* x = nullptr;
  const float* context = nullptr;  // null: keys and values come from x
  const float* const* weights = nullptr;
  float* y = nullptr;
  void* workspace = nullptr;
  float* const* maps = nullptr;  // one a layer; null: the overload without a map
  std::size_t tokens = ladon::all;
  std::size_t queries = ladon::all;
  std::size_t keys = ladon::all;
  std::ptrdiff_t offset = ladon::mask::usual_offset;
  const std::uint8_t* may_see = nullptr;
  float epsilon = 1e-5f;
};

struct Subject {
  ladon::Shape shape;  // complete
  LayoutKind layout;
  bool causal;
  bool padding;
  std::size_t layers;  // maps that it gives
  std::size_t workspace_bytes;
  std::size_t cross_workspace_bytes;
  void (*run)(const Call&);
};

template <class Mask>
struct MaskOf;
template <>
struct MaskOf<ladon::mask::None> {
  static constexpr bool causal = false, padding = false;
  template <ladon::Shape S>
  static ladon::mask::None::Data<S> data(const Call&) {
    return {};
  }
};
template <>
struct MaskOf<ladon::mask::Causal> {
  static constexpr bool causal = true, padding = false;
  template <ladon::Shape S>
  static ladon::mask::Causal::Data<S> data(const Call& call) {
    return {.offset = call.offset};
  }
};
template <>
struct MaskOf<ladon::mask::Padding> {
  static constexpr bool causal = false, padding = true;
  template <ladon::Shape S>
  static ladon::mask::Padding::Data<S> data(const Call& call) {
    return {.may_see = call.may_see};
  }
};
template <class A, class B>
struct MaskOf<ladon::mask::Both<A, B>> {
  static constexpr bool causal = MaskOf<A>::causal || MaskOf<B>::causal;
  static constexpr bool padding = MaskOf<A>::padding || MaskOf<B>::padding;
  template <ladon::Shape S>
  static typename ladon::mask::Both<A, B>::template Data<S> data(const Call& call) {
    return {.first = MaskOf<A>::template data<S>(call), .second = MaskOf<B>::template data<S>(call)};
  }
};

template <class Layer, class Mask>
typename Layer::Options options_of(const Call& call) {
  return {.tokens = call.tokens,
          .queries = call.queries,
          .keys = call.keys,
          .mask = MaskOf<Mask>::template data<Layer::shape>(call)};
}

template <class Layout, class Other>
constexpr bool same_but_for_biases =
    std::is_same_v<ladon::layout::WithoutBias<Layout>, ladon::layout::WithoutBias<Other>>;
template <class Layout>
constexpr LayoutKind kind_of = same_but_for_biases<Layout, ladon::layout::InProj>        ? LayoutKind::in_proj
                               : same_but_for_biases<Layout, ladon::layout::SeparateQKV> ? LayoutKind::separate
                               : same_but_for_biases<Layout, ladon::layout::InOut>       ? LayoutKind::in_out
                                                                                         : LayoutKind::per_head;

// Points the views of a weights struct, one after the other, to where `next` says.
template <class View>
  requires requires(View view) { view.weight; }
void point(View& view, const float* const*& next) {
  view.weight = *next++;
  if constexpr (requires { view.bias; }) view.bias = *next++;
}
template <class View, std::size_t N>
void point(std::array<View, N>& views, const float* const*& next) {
  for (View& view : views) point(view, next);
}
template <class Weights>
  requires requires(Weights w) { w.out_proj; }
void point(Weights& w, const float* const*& next) {
  if constexpr (requires { w.in_proj; }) {
    point(w.in_proj, next);
  } else {
    point(w.query_proj, next);
    point(w.key_proj, next);
    point(w.value_proj, next);
  }
  point(w.out_proj, next);
}
template <class Layer>
void point_feed_forward(Layer& layer, const float* const*& next) {
  if constexpr (requires { layer.gate; }) point(layer.gate, next);
  point(layer.linear1, next);
  point(layer.linear2, next);
  point(layer.norm1, next);
  point(layer.norm2, next);
}
template <class Layer>
  requires requires(Layer layer) { layer.attention; }
void point(Layer& layer, const float* const*& next) {
  point(layer.attention, next);
  point_feed_forward(layer, next);
}
template <class Layer>
  requires requires(Layer layer) { layer.cross_attention; }
void point(Layer& layer, const float* const*& next) {
  point(layer.self_attention, next);
  point(layer.cross_attention, next);
  point_feed_forward(layer, next);
  point(layer.norm3, next);
}

template <ladon::Shape S, class Mask, class Layout = ladon::layout::InProj, class Target = ladon::simd::Default,
          class Score = ladon::score::Scaled>
Subject attention_subject() {
  using Attention = ladon::MultiHeadAttention<S, Mask, Layout, Score, Target>;
  const auto run = [](const Call& call) {
    typename Attention::Weights weights;
    const float* const* next = call.weights;
    point(weights, next);
    const auto options = options_of<Attention, Mask>(call);
    if (call.context != nullptr) {
      auto& workspace = *static_cast<typename Attention::CrossWorkspace*>(call.workspace);
      if (call.maps != nullptr) {
        Attention::run(call.x, call.context, weights, call.y, workspace, options, call.maps[0]);
      } else {
        Attention::run(call.x, call.context, weights, call.y, workspace, options);
      }
    } else if constexpr (Attention::as_many_keys) {
      auto& workspace = *static_cast<typename Attention::Workspace*>(call.workspace);
      if (call.maps != nullptr) {
        Attention::run(call.x, weights, call.y, workspace, options, call.maps[0]);
      } else {
        Attention::run(call.x, weights, call.y, workspace, options);
      }
    }
  };
  return {Attention::shape,
          kind_of<Layout>,
          MaskOf<Mask>::causal,
          MaskOf<Mask>::padding,
          1,
          sizeof(typename Attention::Workspace),
          sizeof(typename Attention::CrossWorkspace),
          run};
}

// x, context and weights[0] are q, k and v.
template <ladon::Shape S, class Mask, class Target = ladon::simd::Default, class Score = ladon::score::Scaled>
Subject given_subject() {
  using Attention = ladon::Attention<S, Mask, Score, Target>;
  const auto run = [](const Call& call) {
    auto& workspace = *static_cast<typename Attention::Workspace*>(call.workspace);
    const auto options = options_of<Attention, Mask>(call);
    if (call.maps != nullptr) {
      Attention::run(call.x, call.context, call.weights[0], call.y, workspace, options, call.maps[0]);
    } else {
      Attention::run(call.x, call.context, call.weights[0], call.y, workspace, options);
    }
  };
  constexpr std::size_t bytes = sizeof(typename Attention::Workspace);
  return {Attention::shape, LayoutKind::separate, MaskOf<Mask>::causal, MaskOf<Mask>::padding, 1, bytes, bytes, run};
}

template <ladon::Shape S, ladon::LayerForm Form, class Mask, class Layout = ladon::layout::InProj,
          class Target = ladon::simd::Default>
Subject layer_subject() {
  using Layer = ladon::EncoderLayer<S, Form, Mask, Layout, ladon::score::Scaled, Target>;
  const auto run = [](const Call& call) {
    typename Layer::Weights weights;
    const float* const* next = call.weights;
    point(weights, next);
    weights.norm1.epsilon = weights.norm2.epsilon = call.epsilon;
    auto& workspace = *static_cast<typename Layer::Workspace*>(call.workspace);
    const auto options = options_of<Layer, Mask>(call);
    if (call.maps != nullptr) {
      Layer::run(call.x, weights, call.y, workspace, options, call.maps[0]);
    } else {
      Layer::run(call.x, weights, call.y, workspace, options);
    }
  };
  constexpr std::size_t bytes = sizeof(typename Layer::Workspace);
  return {Layer::shape, kind_of<Layout>, MaskOf<Mask>::causal, MaskOf<Mask>::padding, 1, bytes, bytes, run};
}

template <std::size_t Layers, ladon::Shape S, ladon::LayerForm Form, class Mask, ladon::FinalNorm Final>
Subject encoder_subject() {
  using Encoder = ladon::Encoder<Layers, S, Form, Mask, Final>;
  const auto run = [](const Call& call) {
    typename Encoder::Weights weights;
    const float* const* next = call.weights;
    for (auto& layer : weights.layers) {
      point(layer, next);
      layer.norm1.epsilon = layer.norm2.epsilon = call.epsilon;
    }
    if constexpr (Final == ladon::FinalNorm::with) {
      point(weights.norm, next);
      weights.norm.epsilon = call.epsilon;
    }
    auto& workspace = *static_cast<typename Encoder::Workspace*>(call.workspace);
    const auto options = options_of<Encoder, Mask>(call);
    if (call.maps != nullptr) {
      typename Encoder::Maps maps;
      for (std::size_t i = 0; i < Layers; ++i) maps[i] = call.maps[i];
      Encoder::run(call.x, weights, call.y, workspace, options, maps);
    } else {
      Encoder::run(call.x, weights, call.y, workspace, options);
    }
  };
  constexpr std::size_t bytes = sizeof(typename Encoder::Workspace);
  return {Encoder::shape, LayoutKind::in_proj, MaskOf<Mask>::causal, MaskOf<Mask>::padding, Layers, bytes, bytes, run};
}

}  // namespace ladon_test
