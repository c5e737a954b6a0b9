// Instantiates encoder and decoder layers for the cases of PyTorch's layers. The sizes of a case are template
// arguments, collected in the struct LayerSizes. One call runs one sentence through a layer.
#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <memory>

#include <ladon/ladon.hpp>

namespace conformance {

struct LayerSizes {
  bool decoder;
  std::size_t model, heads, feed_forward;
  std::size_t length, memory;  // tokens of the input, and of the memory of a decoder's cross-attention
  ladon::Activation activation;
  ladon::NormOrder norm;

  friend bool operator==(const LayerSizes&, const LayerSizes&) = default;
};

// The arguments of a call, for one sentence. All weight tensors of a layer contain the numbers cos(0), cos(1), ..., so
// each tensor is the beginning of the array `parameters`.
struct Sentence {
  const float* input;   // [length][model]
  const float* memory;  // [memory][model]
  float* out;           // [length][model]
  const std::uint8_t* may_see;
  const std::uint8_t* memory_may_see;  // null: every token may be seen
  const float* parameters;
  float epsilon;
};

struct LayerInstance {
  LayerSizes sizes;
  void (*run)(const Sentence&);
};

// Each source file that generate.cmake writes defines a static object of this type. The object's constructor registers
// the instantiations of the file before main().
struct LayerInstances {
  LayerInstances(std::initializer_list<LayerInstance> instances);
};

template <LayerSizes L>
inline constexpr ladon::Model model_of{.tokens = L.length,
                                       .memory = L.memory,
                                       .model = L.model,
                                       .heads = L.heads,
                                       .feed_forward = L.feed_forward,
                                       .activation = L.activation,
                                       .norm = L.norm};

template <LayerSizes L>
void run_encoder(const Sentence& sentence) {
  using Layer = ladon::EncoderLayer<model_of<L>, ladon::mask::Padding>;
  const float* const p = sentence.parameters;
  const float epsilon = sentence.epsilon;
  const typename Layer::Weights weights{.attention = {.in_proj = {p, p}, .out_proj = {p, p}},
                                        .linear1 = {p, p},
                                        .linear2 = {p, p},
                                        .norm1 = {p, p, epsilon},
                                        .norm2 = {p, p, epsilon}};
  const auto workspace = std::make_unique<typename Layer::Workspace>();
  Layer::run(sentence.input, weights, sentence.out, *workspace, {.mask = {.may_see = sentence.may_see}});
}

template <LayerSizes L>
void run_decoder(const Sentence& sentence) {
  using Layer = ladon::DecoderLayer<model_of<L>, ladon::DecoderMasks<ladon::mask::Padding, ladon::mask::Padding>>;
  const float* const p = sentence.parameters;
  const float epsilon = sentence.epsilon;
  const typename Layer::Weights weights{.self_attention = {.in_proj = {p, p}, .out_proj = {p, p}},
                                        .cross_attention = {.in_proj = {p, p}, .out_proj = {p, p}},
                                        .linear1 = {p, p},
                                        .linear2 = {p, p},
                                        .norm1 = {p, p, epsilon},
                                        .norm2 = {p, p, epsilon},
                                        .norm3 = {p, p, epsilon}};
  const auto workspace = std::make_unique<typename Layer::Workspace>();
  Layer::run(
      sentence.input, sentence.memory, weights, sentence.out, *workspace,
      {.self = {.mask = {.may_see = sentence.may_see}}, .memory = {.mask = {.may_see = sentence.memory_may_see}}});
}

template <LayerSizes L>
constexpr LayerInstance instance() {
  if constexpr (L.decoder) {
    return {L, run_decoder<L>};
  } else {
    return {L, run_encoder<L>};
  }
}

}  // namespace conformance
