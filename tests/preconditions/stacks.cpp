// Breaks preconditions of encoders and decoders, as preconditions.cpp does for attention.
#include "stacks.hpp"

#include <array>

#include <ladon/ladon.hpp>

namespace {

constexpr ladon::Shape self{.queries = 3, .model = 2, .heads = 1};
constexpr ladon::Model config{.memory = 4, .feed_forward = 2};
constexpr std::size_t memory_tokens = config.memory;
using Encoder = ladon::Encoder<config.with(self), ladon::mask::Causal>;
using Decoder = ladon::Decoder<config.with(self)>;
constexpr ladon::Model of_kinds{.layers = 1,
                                .tokens = 3,
                                .model = 2,
                                .heads = 1,
                                .feed_forward = 2,
                                .position = {.width = 2, .positions = 3},
                                .kinds = {{.window = 1}}};
using EncoderOfKinds = ladon::Encoder<of_kinds>;
using EncoderLayer = Encoder::Layer;
using DecoderLayer = Decoder::Layer;

constexpr std::array<float, 12> zeros{};
constexpr ladon::Norm<2> norm{.weight = zeros.data(), .bias = zeros.data()};
const float* const zero = zeros.data();

EncoderLayer::Weights encoder_weights() {
  return {.attention = {.in_proj = {zero, zero}, .out_proj = {zero, zero}},
          .linear1 = {zero, zero},
          .linear2 = {zero, zero},
          .norm1 = norm,
          .norm2 = norm};
}
DecoderLayer::Weights decoder_weights() {
  return {.self_attention = {.in_proj = {zero, zero}, .out_proj = {zero, zero}},
          .cross_attention = {.in_proj = {zero, zero}, .out_proj = {zero, zero}},
          .linear1 = {zero, zero},
          .linear2 = {zero, zero},
          .norm1 = norm,
          .norm2 = norm,
          .norm3 = norm};
}

// Places `object` directly behind the array `before`.
template <class Object>
struct Behind {
  alignas(64) std::array<float, 16> before{};
  Object object{};
  // Returns the address of `count` floats. If `gap` is 0, the last float overlaps `object`, and all other floats are in
  // `before`. Otherwise, all floats are in `before`, and `gap` - 1 floats lie between the last one and `object`.
  float* array(std::size_t count, std::size_t gap = 0) { return before.data() + 16 + 1 - count - gap; }
};

// Returns a part of phase `phase`, which the kernel does not have.
template <class Shared, class Scratch>
ladon::Part<Shared, Scratch> part_of(std::size_t phase, ladon::Workspace<Shared, Scratch>& workspace) {
  return {phase, {}, workspace.shared, workspace.scratch};
}

}  // namespace

void ladon_test::break_in_a_stack(std::string_view broken) {
  const EncoderLayer::Weights layer = encoder_weights();
  const Encoder::Weights encoder{.layers = {layer}};
  const Decoder::Weights decoder{.layers = {decoder_weights()}};
  std::array<float, 6> x{}, y{};
  std::array<float, 2 * memory_tokens> memory{};
  static Behind<EncoderLayer::Workspace> run;
  static Behind<EncoderLayer::CachedWorkspace> cached;
  static Behind<Encoder::Caches> caches;
  static Behind<DecoderLayer::Workspace> decoding;
  EncoderLayer::Workspace& workspace = run.object;
  if (broken == "layer_y") EncoderLayer::run(x, layer, run.array(6), workspace);
  if (broken == "layer_y_before") EncoderLayer::run(x, layer, run.array(6, 1), workspace);
  if (broken == "layer_x") EncoderLayer::run(run.array(6), layer, y, workspace);
  if (broken == "layer_extend_y") EncoderLayer::extend(x, caches.object[0], layer, cached.array(6), cached.object);
  if (broken == "layer_extend_x") EncoderLayer::extend(caches.array(6), caches.object[0], layer, y, cached.object);
  if (broken == "layer_phase") EncoderLayer::run(x, layer, y, part_of(3, workspace));
  if (broken == "layer_no_norm") {
    EncoderLayer::Weights without = layer;
    without.norm2.weight = {};
    EncoderLayer::run(x, without, y, workspace);
  }
  if (broken == "layer_no_norm_bias") {
    EncoderLayer::Weights without = layer;
    without.norm1.bias = {};
    EncoderLayer::run(x, without, y, workspace);
  }
  if (broken == "layer_no_attention_bias") {
    constexpr ladon::Model model = [] {
      ladon::Model biased = EncoderLayer::model;
      biased.layer_bias = true;
      return biased;
    }();
    using Biased = ladon::EncoderLayer<model>;
    static Biased::Workspace biased_workspace;
    const Biased::Weights without{.attention = layer.attention,
                                  .linear1 = layer.linear1,
                                  .linear2 = layer.linear2,
                                  .norm1 = layer.norm1,
                                  .norm2 = layer.norm2};
    Biased::run(x, without, y, biased_workspace);
  }
  if (broken == "kind_no_rotary_table") {
    static EncoderOfKinds::Workspace of_kinds_workspace;
    EncoderOfKinds::run(x, {.layers = {layer}}, y, of_kinds_workspace);
  }
  if (broken == "encoder_y") Encoder::run(x, encoder, run.array(6), workspace);
  if (broken == "encoder_x") Encoder::run(run.array(6), encoder, y, workspace);
  if (broken == "encoder_extend_y") Encoder::extend(x, caches.object, encoder, caches.array(6), cached.object);
  if (broken == "encoder_extend_x") Encoder::extend(cached.array(6), caches.object, encoder, y, cached.object);
  if (broken == "encoder_phase") Encoder::run(x, encoder, y, part_of(3, workspace));
  if (broken == "encoder_phase_maps") {
    Encoder::run(x, encoder, y, part_of(3, workspace), {}, Encoder::Maps{});
  }
  if (broken == "decoder_y") Decoder::run(x, memory, decoder, decoding.array(6), decoding.object);
  if (broken == "decoder_x") Decoder::run(decoding.array(6), memory, decoder, y, decoding.object);
  if (broken == "decoder_memory") Decoder::run(x, decoding.array(8), decoder, y, decoding.object);
  static Behind<DecoderLayer::CachedWorkspace> growing;
  static Behind<Decoder::Caches> decoder_caches;
  static Decoder::MemoryCaches projected;
  if (broken == "decoder_extend_y") {
    Decoder::extend(x, decoder_caches.object, projected, decoder, decoder_caches.array(6), growing.object);
  }
  if (broken == "decoder_extend_x") {
    Decoder::extend(growing.array(6), decoder_caches.object, projected, decoder, y, growing.object);
  }
  if (broken == "decoder_memory_keys") {  // no memory has been projected
    Decoder::extend(x, decoder_caches.object, projected, decoder, y, growing.object,
                    {.self = {}, .memory = {.keys = 1}});
  }
  if (broken == "decoder_phase" || broken == "decoder_layer_phase") {
    if (broken == "decoder_phase") Decoder::run(x, memory, decoder, y, part_of(5, decoding.object));
    DecoderLayer::run(x, memory, decoder.layers[0], y, part_of(5, decoding.object));
  }
  if (broken == "encoder_extend_phase") {
    Encoder::extend(x, caches.object, encoder, y, part_of(3, cached.object));
  }
  if (broken == "decoder_extend_phase") {
    Decoder::extend(x, decoder_caches.object, projected, decoder, y, part_of(5, growing.object));
  }
  if (broken == "decoder_layer_memory") {
    DecoderLayer::run(x, decoding.array(8), decoder.layers[0], y, decoding.object);
  }
}
