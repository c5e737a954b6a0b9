// SPDX-License-Identifier: Apache-2.0
// Encoders with a decoder that attends to their output.
#include <cmath>
#include <utility>

#include "families.hpp"
#include "texts.hpp"

namespace ladon::families {
namespace {

// BART's names of sizes differ between its two stacks.
struct Bart {
  std::size_t model = 1024, layers = 12, heads = 16, feed_forward = 4096;
  std::size_t encoder_positions = 1024, decoder_positions = 1024;
  NormOrder norm = NormOrder::pre;
  std::size_t vocabulary = 50265;
  std::size_t first = 0;      // the row of the table of positions for the first token
  bool normed_input = false;  // by layernorm_embedding
  bool sinusoids = false;     // in the table of positions
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
  return stack;
}

// Sets the input of a stack with token ids.
void set_tokens(Stack& stack, const std::string& table, std::size_t vocabulary, float scale = 1) {
  stack.input = {stack.name == "encoder" ? "input_ids" : "decoder_input_ids",
                 {Lookup{table, vocabulary, stack.model.model, scale}}};
}

// Sets the steps from token ids to the first layer.
void set_bart_tokens(Config& config, const Bart& bart, const std::string& table, Stack& stack) {
  const std::size_t vocabulary = config.size("", {"vocab_size"}, bart.vocabulary);
  const bool scaled = config.flag("", {"scale_embedding"}, false);
  set_tokens(stack, table, vocabulary, scaled ? root_of(stack.model.model) : 1);
  if (table == "decoder.embed_tokens.weight")
    std::get<Lookup>(stack.input.steps[0]).rows = config.size("", {"decoder_vocab_size"}, vocabulary);
  stack.input.steps.emplace_back(AddPositions{.table = stack.name + ".embed_positions.weight",
                                              .rows = stack.positions + bart.first,
                                              .first = bart.first,
                                              .optional = bart.sinusoids});
  if (bart.normed_input) stack.input.steps.emplace_back(NormRows{.name = stack.name + ".layernorm_embedding"});
}

// Adds the head of a language model, whose weight is the table of the stack's embeddings or has the name `head`.
void set_head(Config& config, Description& description, Stack& stack, const char* head) {
  description.tied_embeddings = config.flag("", {"tie_word_embeddings"}, true);
  const std::string name = class_of(config);
  if (!name.ends_with("ForConditionalGeneration") && !name.ends_with("MTModel")) return;
  const std::size_t vocabulary = std::get<Lookup>(stack.input.steps[0]).rows;
  if (description.tied_embeddings)
    stack.head = {TiedHead{}};
  else
    stack.head = {LinearRows{head, vocabulary, Bias::without}};
}

void read_bart(Config& config, Description& description, const Bart& bart, bool shared = true) {
  Stack encoder = read_bart_stack(config, bart, "encoder"), decoder = read_bart_stack(config, bart, "decoder");
  set_bart_tokens(config, bart, shared ? "shared.weight" : "encoder.embed_tokens.weight", encoder);
  set_bart_tokens(config, bart, shared ? "shared.weight" : "decoder.embed_tokens.weight", decoder);
  set_head(config, description, decoder, "lm_head");
  if (!decoder.head.empty()) decoder.head.emplace_back(AddRow{"final_logits_bias"});
  add_stack(description, std::move(encoder), config);
  add_decoder(config, description, std::move(decoder));
  description.outside = {"embeddings, and layernorm_embedding of BART and mBART", "head"};
}

void bart(Config& config, Description& description) {
  read_bart(config, description, {.norm = NormOrder::post, .first = 2, .normed_input = true});
}
void mbart(Config& config, Description& description) {
  read_bart(config, description, {.first = 2, .normed_input = true});
}
void marian(Config& config, Description& description) {
  read_bart(config, description, {.norm = NormOrder::post, .vocabulary = 58101, .sinusoids = true},
            config.flag("", {"share_encoder_decoder_embeddings"}, true));
}
void pegasus(Config& config, Description& description) { read_bart(config, description, {.sinusoids = true}); }

// Sets the steps from the spectrogram of 30 seconds to the first layer.
void set_spectrogram(Config& config, Stack& stack) {
  const std::size_t width = stack.model.model;
  ConvolveRows convolution{
      .name = "encoder.conv1", .outputs = width, .width = 3, .before = 1, .behind = 1, .after = After::gelu};
  stack.input = {"input_features",
                 {Frames{.frames = 2 * stack.positions,
                         .channels = config.size("", {"num_mel_bins"}, 80),
                         .transposed = true,
                         .exact = true},
                  convolution}};
  convolution.name = "encoder.conv2";
  convolution.stride = 2;
  stack.input.steps.emplace_back(convolution);
  stack.input.steps.emplace_back(AddPositions{"encoder.embed_positions.weight", stack.positions});
}

void whisper(Config& config, Description& description) {
  const Bart bart{.model = 384,
                  .layers = 4,
                  .heads = 6,
                  .feed_forward = 1536,
                  .encoder_positions = 1500,
                  .decoder_positions = 448,
                  .vocabulary = 51865};
  Stack encoder = read_bart_stack(config, bart, "encoder"), decoder = read_bart_stack(config, bart, "decoder");
  set_spectrogram(config, encoder);
  set_bart_tokens(config, bart, "decoder.embed_tokens.weight", decoder);
  set_head(config, description, decoder, "proj_out");
  add_stack(description, std::move(encoder), config);
  add_decoder(config, description, std::move(decoder));
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
  Stack encoder = read_t5_stack(config, "encoder");
  set_tokens(encoder, "shared.weight", config.size("", {"vocab_size"}, 32128));
  add_stack(description, std::move(encoder), config);
  description.outside = {"embeddings", "head, after a scale if tie_word_embeddings is true"};
  if (class_of(config) == "T5EncoderModel") return;
  Stack decoder = read_t5_stack(config, "decoder");
  set_tokens(decoder, "shared.weight", config.size("", {"vocab_size"}, 32128));
  set_head(config, description, decoder, "lm_head");
  // T5 1.1 has a table of its own for the head. Versions of transformers differ in how config.json says so.
  if (config.flag("", {"scale_decoder_outputs"}, description.tied_embeddings) && !decoder.head.empty() &&
      description.tied_embeddings)
    std::get<TiedHead>(decoder.head[0]).scale = 1 / std::sqrt(static_cast<float>(decoder.model.model));
  add_decoder(config, description, std::move(decoder));
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

// Sets the steps from sound to the first layer. Their sizes are in no config.json.
void set_sound(Stack& stack) {
  const std::size_t width = stack.model.model;
  stack.input = {
      "input_values",
      {Frames{},
       ConvolveRows{.name = "encoder.conv1",
                    .outputs = width,
                    .width = 127,
                    .stride = 64,
                    .bias = Bias::without,
                    .after = After::tanh},
       GroupNormRows{.name = "encoder.groupnorm"},
       ConvolveRows{.name = "encoder.conv2", .outputs = 2 * width, .width = 7, .stride = 3, .after = After::gelu},
       ConvolveRows{.name = "encoder.conv3", .outputs = width, .width = 3, .stride = 2, .after = After::gelu}}};
}

void moonshine(Config& config, Description& description) {
  Stack encoder = read_moonshine_stack(config, "encoder");
  set_sound(encoder);
  add_stack(description, std::move(encoder), config);
  set_frames(config, description.stacks[0]);
  Stack decoder = read_moonshine_stack(config, "decoder");
  set_tokens(decoder, "decoder.embed_tokens.weight", config.size("", {"vocab_size"}, 32768));
  set_head(config, description, decoder, "proj_out");
  add_decoder(config, description, std::move(decoder));
  description.outside = {"convolutions before the encoder, embeddings of the decoder", "head"};
}

constexpr Family seq2seq_families[] = {
    {"bart", bart},       {"marian", marian}, {"mbart", mbart},     {"moonshine", moonshine},
    {"pegasus", pegasus}, {"t5", t5, ""},     {"whisper", whisper},
};

}  // namespace

std::span<const Family> seq2seq() { return seq2seq_families; }

}  // namespace ladon::families
