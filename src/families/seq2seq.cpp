// SPDX-License-Identifier: Apache-2.0
// Encoders with a decoder that attends to their output.
#include <cmath>
#include <utility>

#include "families.hpp"

namespace ladon::families {
namespace {

// BART's names of sizes differ between its two stacks.
struct Bart {
  std::size_t model, layers, heads, feed_forward, encoder_positions, decoder_positions;
  NormOrder norm;
  const char* activation = "gelu";
};

Stack read_bart_stack(Config& config, const Bart& bart, const std::string& name) {
  const bool encoder = name == "encoder";
  const bool pre = bart.norm == NormOrder::pre;
  Stack stack = read_stack(config, {name, name + ".layers", pre ? name + ".layer_norm" : ""},
                           {bart.model, bart.layers, bart.heads, bart.feed_forward});
  const auto key = [&](const char* end) { return name + end; };
  stack.model.layers = config.size("layers", {key("_layers").c_str()}, bart.layers);
  stack.model.heads = config.size("heads", {key("_attention_heads").c_str()}, bart.heads);
  stack.model.feed_forward = config.size("feed_forward", {key("_ffn_dim").c_str()}, bart.feed_forward);
  stack.model.norm = bart.norm;
  stack.positions =
      config.size("", {encoder ? "max_source_positions" : "max_target_positions", "max_position_embeddings"},
                  encoder ? bart.encoder_positions : bart.decoder_positions);
  read_activation(config, stack, bart.activation, {"activation_function"});
  if (config.flag("", {"scale_embedding"}, false))
    stack.input_scale = static_cast<float>(std::sqrt(static_cast<double>(stack.model.model)));
  return stack;
}

void read_bart(Config& config, Description& description, const Bart& bart) {
  add_stack(description, read_bart_stack(config, bart, "encoder"), config);
  add_decoder(config, description, read_bart_stack(config, bart, "decoder"));
  description.outside = {"embeddings, and layernorm_embedding of BART and mBART", "head"};
}

void bart(Config& config, Description& description) {
  read_bart(config, description, {1024, 12, 16, 4096, 1024, 1024, NormOrder::post});
}
void pegasus(Config& config, Description& description) {
  read_bart(config, description, {1024, 12, 16, 4096, 1024, 1024, NormOrder::pre});
}
void whisper(Config& config, Description& description) {
  read_bart(config, description, {384, 4, 6, 1536, 1500, 448, NormOrder::pre});
  description.outside = {"convolutions and positions of the encoder, embeddings of the decoder", "head"};
}

Stack read_t5_stack(Config& config, const std::string& name) {
  Stack stack = read_stack(config, {name, name + ".block", name + ".final_layer_norm"}, {512, 6, 8, 2048, 0, 64, 512});
  Model& model = stack.model;
  if (name == "decoder") model.layers = config.size("layers", {"num_decoder_layers"}, model.layers);
  model.norm_kind = NormKind::rms;
  model.bias = model.projection_bias = model.output_bias = Bias::without;
  model.score.scale = 1;
  model.mask.relative = true;
  std::string activation = config.text("activation", {"feed_forward_proj"}, "relu");
  model.gated = activation.starts_with("gated-");
  if (model.gated) activation.erase(0, 6);
  config.note("gated", "feed_forward_proj");
  set_activation(config, stack, activation == "gelu" && model.gated ? "gelu_new" : activation);
  read_epsilon(config, stack, 1e-6);
  stack.relative_bias = {.tensor = name + ".block.0.layer.0.SelfAttention.relative_attention_bias.weight",
                         .buckets = {.count = config.size("", {"relative_attention_num_buckets"}, 32),
                                     .causal = name == "decoder",
                                     .max_distance = config.size("", {"relative_attention_max_distance"}, 128)}};
  return stack;
}

void t5(Config& config, Description& description) {
  add_stack(description, read_t5_stack(config, "encoder"), config);
  add_decoder(config, description, read_t5_stack(config, "decoder"));
  description.outside = {"embeddings", "head, after a scale if tie_word_embeddings is true"};
}

Stack read_moonshine_stack(Config& config, const std::string& name) {
  const bool decoder = name == "decoder";
  Stack stack = read_stack(config, {name, name + ".layers", decoder ? "decoder.norm" : "encoder.layer_norm"},
                           {288, 6, 8, 1152, 0, derived, 512});
  Model& model = stack.model;
  const auto key = [&](const char* end) { return name + end; };
  model.layers = config.size("layers", {key("_num_hidden_layers").c_str()}, 6);
  model.heads = config.size("heads", {key("_num_attention_heads").c_str()}, 8);
  model.kv_heads = config.size("kv_heads", {key("_num_key_value_heads").c_str()}, model.heads);
  if (!config.has("head_dim")) model.head_width = 0;
  model.gated = decoder;
  model.norm_bias = Bias::without;
  model.projection_bias = bias_if(config.flag("projection_bias", {"attention_bias"}, false));
  model.output_bias = Bias::without;
  read_activation(config, stack, decoder ? "silu" : "gelu", {key("_hidden_act").c_str()});
  read_rotary(config, stack, {.share = 0.9, .pairing = Pairing::neighbours});
  return stack;
}

void moonshine(Config& config, Description& description) {
  add_stack(description, read_moonshine_stack(config, "encoder"), config);
  add_decoder(config, description, read_moonshine_stack(config, "decoder"));
  description.outside = {"convolutions before the encoder, embeddings of the decoder", "head"};
}

constexpr Family seq2seq_families[] = {
    {"bart", bart},       {"marian", bart}, {"mbart", pegasus},   {"moonshine", moonshine},
    {"pegasus", pegasus}, {"t5", t5, ""},   {"whisper", whisper},
};

}  // namespace

std::span<const Family> seq2seq() { return seq2seq_families; }

}  // namespace ladon::families
