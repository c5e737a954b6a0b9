// Compares a decoder layer, or a stack of decoder layers, with the oracle (oracle.hpp) for various lengths.
//
// A decoder attends to a memory, which is the output of an encoder. The shape of a Subject (subject.hpp) is the shape
// of the attention to the memory. Each layer has two maps of attention weights: of self-attention, then of the
// attention to the memory. The buffers of both maps have the size of the second map, so the memory must have at least
// as many tokens as the text.
//
// In a Call of a decoder, `queries` is the number of active queries, `tokens` is the number of active keys of
// self-attention, and `keys` is the number of active tokens of the memory. All padding masks of the decoder have the
// data `may_see`.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <tuple>
#include <vector>

#include <ladon/decoder.hpp>

#include "guarded_run.hpp"
#include "mask_data.hpp"
#include "models.hpp"
#include "oracle.hpp"
#include "subject.hpp"
#include "weight_views.hpp"
#include "weights.hpp"

namespace ladon_test {

struct DecoderForm {
  std::size_t layers = 1;
  ladon::Model layer{.feed_forward = 1};
  bool final_norm = false;
  bool self_causal = false;
  bool self_padding = false;
  bool memory_padding = false;
  float epsilon = 1e-5f;
  int activation_bits = 0;  // not 0: an argument of `quantise` (weights.hpp)
};

struct DecoderProblem {
  DecoderForm form;
  std::vector<oracle::DecoderLayerWeights> layers;
  oracle::Norm final_norm;
  Floats x;       // [tokens][model]
  Floats memory;  // [memory][model]
};

DecoderProblem random_decoder(const ladon::Shape& cross, const DecoderForm& form, std::uint64_t seed);
Task task_of(const Subject& subject, const DecoderProblem& problem, const Lengths& lengths,
             const std::vector<std::uint8_t>& may_see);

struct ExpectedDecoder {
  Expected y;
  std::vector<Expected> maps;
};
ExpectedDecoder expected_decoder(const Subject& subject, const DecoderProblem& problem, const Lengths& lengths,
                                 const std::vector<std::uint8_t>& may_see);

void check_decoder(const Subject& subject, const DecoderForm& form);

template <class Layer>
void point_decoder_layer(Layer& layer, const float* const*& next, float epsilon) {
  point(layer, next);
  set_epsilon(layer, epsilon);
}

template <class Layer, class SelfMask, class MemoryMask>
typename Layer::Options decoder_options_of(const Call& call) {
  return {.self = {.queries = call.queries, .keys = call.tokens, .mask = data_of<SelfMask, Layer::shape>(call)},
          .memory = {.keys = call.keys, .mask = data_of<MemoryMask, Layer::cross>(call)}};
}

template <class Decoder, std::size_t Layers>
Subject decoder_subject_running(void (*run)(const Call&), WeightLayout layout) {
  Subject subject{};
  subject.shape = Decoder::shape;
  subject.shape.keys = Decoder::MemoryInput::size / Decoder::shape.model;
  subject.layout = layout;
  subject.layers = 2 * Layers;
  subject.workspace_bytes = subject.cross_workspace_bytes = sizeof(typename Decoder::Workspace);
  subject.run = run;
  return subject;
}

template <class Layer, class SelfMask, class MemoryMask, class Layout = ladon::layout::InProj, Maps M = Maps::with>
Subject subject_of_decoder_layer() {
  const auto run = [](const Call& call) {
    typename Layer::Weights weights;
    const float* const* next = call.weights;
    point_decoder_layer(weights, next, call.epsilon);
    auto& workspace = *static_cast<typename Layer::Workspace*>(call.workspace);
    const auto options = decoder_options_of<Layer, SelfMask, MemoryMask>(call);
    if constexpr (M == Maps::with) {
      if (call.maps != nullptr) {
        return Layer::run(call.x, call.context, weights, call.y, workspace, options,
                          typename Layer::Maps{call.maps[0], call.maps[1]});
      }
    }
    Layer::run(call.x, call.context, weights, call.y, workspace, options);
  };
  Subject subject = decoder_subject_running<Layer, 1>(run, weight_layout<Layout>);
  subject.in_pairs =
      ladon::detail::attends_in_pairs<Layer::shape, typename Layout::Precision, ladon::detail::vec::NativeVectors>;
  subject.maps = M;
  return subject;
}
template <ladon::Shape S, std::size_t Memory, ladon::Model Config, class SelfMask, class MemoryMask,
          class Layout = ladon::layout::InProj, Maps M = Maps::with>
Subject decoder_layer_subject() {
  return subject_of_decoder_layer<
      ladon::DecoderLayer<decoder_of(Config, S, Memory), ladon::DecoderMasks<SelfMask, MemoryMask>, Layout>, SelfMask,
      MemoryMask, Layout, M>();
}

template <class Decoder, class SelfMask, class MemoryMask>
Subject subject_of_decoder() {
  constexpr std::size_t layers = std::tuple_size_v<typename Decoder::Maps>;
  const auto run = [](const Call& call) {
    typename Decoder::Weights weights;
    const float* const* next = call.weights;
    for (auto& layer : weights.layers) point_decoder_layer(layer, next, call.epsilon);
    if constexpr (requires { weights.norm.weight; }) {
      point(weights.norm, next);
      weights.norm.epsilon = call.epsilon;
    }
    auto& workspace = *static_cast<typename Decoder::Workspace*>(call.workspace);
    const auto options = decoder_options_of<typename Decoder::Layer, SelfMask, MemoryMask>(call);
    if (call.maps != nullptr) {
      typename Decoder::Maps maps;
      for (std::size_t i = 0; i < layers; ++i) maps[i] = {call.maps[2 * i], call.maps[2 * i + 1]};
      Decoder::run(call.x, call.context, weights, call.y, workspace, options, maps);
    } else {
      Decoder::run(call.x, call.context, weights, call.y, workspace, options);
    }
  };
  return decoder_subject_running<Decoder, layers>(run, WeightLayout::in_proj);
}
template <std::size_t Layers, ladon::Shape S, std::size_t Memory, ladon::Model Config, class SelfMask, class MemoryMask,
          ladon::FinalNorm Final>
Subject decoder_subject() {
  return subject_of_decoder<
      ladon::Decoder<stack_of(Config, S, Layers, Final, Memory), ladon::DecoderMasks<SelfMask, MemoryMask>>, SelfMask,
      MemoryMask>();
}

}  // namespace ladon_test
