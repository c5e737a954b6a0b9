// SPDX-License-Identifier: Apache-2.0
// Gemma: norms multiply by 1 + weight, and the model multiplies its embeddings by the square root of its width.
#include <cmath>
#include <optional>
#include <utility>
#include <vector>

#include "families.hpp"
#include "texts.hpp"

namespace ladon::families {
namespace {

// Returns the head of a decoder. `otherwise` is the default of its softcap, or 0 for none.
CausalHead read_head(Config& config, double otherwise) {
  if (config.is_null("final_logit_softcapping")) otherwise = 0;
  return {.tied = true, .softcap = static_cast<float>(config.number("", {"final_logit_softcapping"}, otherwise))};
}

// The names are those of a module that begins with `prefix`.
Stack read_gemma(Config& config, Description& description, const Sizes& sizes, const std::string& name = "decoder",
                 const std::string& prefix = "") {
  Stack stack = read_stack(config, {name, prefix + "layers", prefix + "norm"}, sizes);
  Model& model = stack.model;
  model.gated = true;
  model.bias = Bias::without;
  model.norm_kind = NormKind::rms;
  model.norm_gain = NormGain::one_plus_weight;
  read_attention_bias(config, stack, "attention_bias", false);
  read_epsilon(config, stack, 1e-6);
  read_rotary(config, stack);
  read_tokens(config, stack, prefix + "embed_tokens", root_of(model.model));
  description.outside = {"embeddings times sqrt(hidden_size)", "head"};
  return stack;
}

// The configuration class ignores hidden_act "gelu": the oldest config.json says "gelu" and means the approximation.
void gemma(Config& config, Description& description) {
  Stack stack = read_gemma(config, description, {3072, 28, 16, 24576, 16, 256, 8192});
  read_causal_head(config, description, stack, {.tied = true});
  read_activation(config, stack, "gelu_pytorch_tanh", {"hidden_activation", "hidden_act"});
  if (stack.model.activation == Activation::gelu) stack.model.activation = Activation::gelu_tanh;
  if (config.flag("mask.causal", {"use_bidirectional_attention"}, false)) stack.model.mask.causal = false;
  add_stack(description, std::move(stack), config);
}

// Sets what Gemma 2, Gemma 3 and T5Gemma share: norms on both sides of a sublayer, and the score.
void read_gemma2(Config& config, Stack& stack, double softcap) {
  stack.model.norm = NormOrder::both;
  read_activation(config, stack, "gelu_pytorch_tanh", {"hidden_activation"});
  const double scale = config.number("score.scale", {"query_pre_attn_scalar"}, 256);
  if (scale <= 0) config.fail("query_pre_attn_scalar", "a number above 0");
  stack.model.score.scale = static_cast<float>(1 / std::sqrt(scale));
  if (config.is_null("attn_logit_softcapping")) softcap = 0;
  stack.model.score.softcap = static_cast<float>(config.number("score.softcap", {"attn_logit_softcapping"}, softcap));
}

// Sets the windows of all layers but every `period`-th.
void read_windows(Config& config, Stack& stack, std::size_t period, std::optional<std::size_t> window,
                  const std::vector<Rotary>& angles = {}) {
  set_windows(config, stack, sliding_layers(config, all_but_every(period, stack.model.layers)), window, {}, angles);
}

void gemma2(Config& config, Description& description) {
  Stack stack = read_gemma(config, description, {2304, 26, 8, 9216, 4, 256, 8192});
  read_causal_head(config, description, stack, read_head(config, 30));
  read_gemma2(config, stack, 50);
  if (config.flag("", {"use_bidirectional_attention"}, false))
    config.refuse("use_bidirectional_attention", "Ladon reads only causal models of this family");
  read_windows(config, stack, 2, read_window(config, 4096));
  add_stack(description, std::move(stack), config);
}

// The window of a two-sided model is half of sliding_window on each side.
void gemma3(Config& config, Description& description) {
  Stack stack = read_gemma(config, description, {2304, 26, 8, 9216, 4, 256, 131072});
  read_causal_head(config, description, stack, read_head(config, 0));
  read_gemma2(config, stack, 0);
  stack.model.query_key_norm.over = HeadNorm::head;
  auto window = read_window(config, 4096);
  if (config.flag("mask.causal", {"use_bidirectional_attention"}, false)) {
    stack.model.mask.causal = false;
    if (window) window = (*window + 1) / 2;
  }
  std::vector<Rotary> angles{rotary_of_type(config, stack, {.base = 1000000}, "full_attention"),
                             rotary_of_type(config, stack, {}, "sliding_attention")};
  if (!config.inner("rope_parameters").has("sliding_attention"))  // before transformers 5
    angles[1] = {.scaling = {.base = config.number("", {"rope_local_base_freq"}, 10000)}};
  const std::size_t period = config.size("", {"sliding_window_pattern", "_sliding_window_pattern"}, 6);
  read_windows(config, stack, period, window, angles);
  add_stack(description, std::move(stack), config);
}

// A model of texts and images. Its images need another model.
void gemma3_of_images(Config& config, Description& description) {
  Config text = config.inner("text_config");
  gemma3(text, description);
  description.stacks[0].inside = "language_model.";  // after or before "model.", by the version of transformers
  description.tied_embeddings = config.flag("", {"tie_word_embeddings"}, description.tied_embeddings);
  if (is_class(config, {"ForConditionalGeneration"}))
    add_language_head(description, description.stacks[0], read_head(text, 0));
  description.outside.insert(description.outside.begin(), "the encoder of images (vision_config)");
}

// Returns the encoder or the decoder. Both ends belong to a two-sided window.
Stack read_t5gemma(Config& config, Description& description, const std::string& name, const std::string& prefix) {
  Stack stack = read_gemma(config, description, {2304, 26, 8, 9216, 4, 256, 8192}, name, prefix);
  read_gemma2(config, stack, 50);
  auto window = read_window(config, 4096);
  if (window && name == "encoder") ++*window;
  read_windows(config, stack, 2, window);
  return stack;
}
void t5gemma_module(Config& config, Description& description) {
  if (config.flag("", {"is_decoder"}, false))
    config.refuse("is_decoder", "Ladon reads a decoder from the config.json of the whole model");
  add_stack(description, read_t5gemma(config, description, "encoder", ""), config);
}
void t5gemma(Config& config, Description& description) {
  description.tied_embeddings = config.flag("", {"tie_word_embeddings"}, true);
  Config encoder = config.inner("encoder");
  add_stack(description, read_t5gemma(encoder, description, "encoder", "encoder."), encoder);
  if (!config.flag("", {"is_encoder_decoder"}, true)) return;
  Config decoder = config.inner("decoder");
  Stack stack = read_t5gemma(decoder, description, "decoder", "decoder.");
  if (stack.model.model != description.stacks[0].model.model)
    decoder.refuse("hidden_size", "Ladon's decoders are as wide as their encoders");
  if (is_class(config, {"ForConditionalGeneration"})) {
    CausalHead head = read_head(decoder, 30);
    head.name = "lm_head.out_proj";
    add_language_head(description, stack, head);
  }
  stack.input.name = "decoder_input_ids";
  add_decoder(decoder, description, std::move(stack));
}

constexpr Family gemma_like_families[] = {
    {"gemma", gemma},
    {"gemma2", gemma2},
    {"gemma3", gemma3_of_images},
    {"gemma3_text", gemma3},
    {"t5_gemma_module", t5gemma_module},
    {"t5gemma", t5gemma},
};

}  // namespace

std::span<const Family> gemma_like() { return gemma_like_families; }

}  // namespace ladon::families
