// Makes Subjects (subject.hpp) for encoder layers and for stacks of encoder layers.
#pragma once

#include <tuple>

#include "attention_subject.hpp"
#include "models.hpp"

namespace ladon_test {

template <class Layer, class Mask, class Layout = ladon::layout::InProj,
          class Vectors = ladon::detail::vec::NativeVectors, Maps M = Maps::with>
Subject subject_of_layer() {
  const auto run = [](const Call& call) {
    typename Layer::Weights weights;
    const float* const* next = call.weights;
    point(weights, next);
    set_epsilon(weights, call.epsilon);
    auto& workspace = *static_cast<typename Layer::Workspace*>(call.workspace);
    const auto options = options_of<Layer, Mask>(call);
    if constexpr (M == Maps::with) {
      if (call.maps != nullptr) return Layer::run(call.x, weights, call.y, workspace, options, call.maps[0]);
    }
    Layer::run(call.x, weights, call.y, workspace, options);
  };
  constexpr std::size_t bytes = sizeof(typename Layer::Workspace);
  Subject subject{Layer::shape, weight_layout<Layout>, 1, bytes, bytes, run, MaskOf<Mask>::form};
  subject.in_pairs = ladon::detail::attends_in_pairs<Layer::shape, typename Layout::Precision, Vectors>;
  subject.norms = Layout::Norms::kind;
  subject.maps = M;
  return subject;
}

template <ladon::Shape S, ladon::Model Config, class Mask, class Layout = ladon::layout::InProj,
          class Vectors = ladon::detail::vec::NativeVectors, Maps M = Maps::with>
Subject layer_subject() {
  using Layer =
      ladon::EncoderLayer<Config.with(S), Mask, Layout, ladon::score::Scaled, ladon::position::Unrotated, Vectors>;
  return subject_of_layer<Layer, Mask, Layout, Vectors, M>();
}
template <ladon::Shape S, ladon::Model Config, class Mask, class Layout = ladon::layout::InProj>
Subject layer_without_maps() {
  return layer_subject<S, Config, Mask, Layout, ladon::detail::vec::NativeVectors, maps_of_wide_set>();
}

template <class Encoder, class Mask, Maps M = Maps::with>
Subject subject_of_encoder() {
  constexpr std::size_t layers = std::tuple_size_v<typename Encoder::Maps>;
  const auto run = [](const Call& call) {
    typename Encoder::Weights weights;
    const float* const* next = call.weights;
    point_layers(weights.layers, next, call.epsilon);
    if constexpr (requires { weights.norm.weight; }) {
      point(weights.norm, next);
      weights.norm.epsilon = call.epsilon;
    }
    auto& workspace = *static_cast<typename Encoder::Workspace*>(call.workspace);
    const auto options = options_of<Encoder, Mask>(call);
    if constexpr (M == Maps::with) {
      if (call.maps != nullptr) {
        typename Encoder::Maps maps;
        for (std::size_t i = 0; i < layers; ++i) maps[i] = call.maps[i];
        return Encoder::run(call.x, weights, call.y, workspace, options, maps);
      }
    }
    Encoder::run(call.x, weights, call.y, workspace, options);
  };
  constexpr std::size_t bytes = sizeof(typename Encoder::Workspace);
  Subject subject{Encoder::shape, WeightLayout::in_proj, layers, bytes, bytes, run, MaskOf<Mask>::form};
  subject.maps = M;
  return subject;
}

template <std::size_t Layers, ladon::Shape S, ladon::Model Config, class Mask, ladon::FinalNorm Final,
          class Layout = ladon::layout::InProj, Maps M = Maps::with>
Subject encoder_subject() {
  return subject_of_encoder<ladon::Encoder<stack_of(Config, S, Layers, Final), Mask, Layout>, Mask, M>();
}

}  // namespace ladon_test
