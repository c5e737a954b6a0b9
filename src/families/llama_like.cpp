// SPDX-License-Identifier: Apache-2.0
// Llama and decoders that differ from it in a few points.
#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "families.hpp"
#include "texts.hpp"

namespace ladon::families {
namespace {

// The points in which the families differ. The defaults are those of Llama.
struct Points {
  Sizes sizes{4096, 32, 32, 11008, derived, derived, 2048};
  const char* final_norm = "norm";
  const char* activation = "silu";
  double epsilon = 1e-6;
  Angles angles{};
  NormKind norm_kind = NormKind::rms;
  bool gated = true;
  const char* attention_bias = "attention_bias";  // of all four projections; null: none has a bias
  bool has_attention_bias = false;                // the default of the key
  const char* bias = "mlp_bias";                  // of the feed-forward network; null: no bias
  double scale = 1;                               // of the embeddings
  CausalHead head{};
};

Stack read_llama(Config& config, Description& description, const Points& points) {
  Stack stack = read_stack(config, {"decoder", "layers", points.final_norm}, points.sizes);
  Model& model = stack.model;
  model.norm_kind = points.norm_kind;
  model.gated = points.gated;
  model.bias = bias_if(points.bias != nullptr && config.flag("bias", {points.bias}, false));
  model.projection_bias = model.output_bias = Bias::without;
  if (points.attention_bias != nullptr)
    read_attention_bias(config, stack, points.attention_bias, points.has_attention_bias);
  read_activation(config, stack, points.activation);
  read_epsilon(config, stack, points.epsilon);
  read_rotary(config, stack, points.angles);
  read_tokens(config, stack, "embed_tokens", static_cast<float>(points.scale));
  read_causal_head(config, description, stack, points.head);
  description.outside = {"embeddings", "head"};
  return stack;
}

void llama(Config& config, Description& description) {
  add_stack(description, read_llama(config, description, {}), config);
}

void mistral(Config& config, Description& description) {
  Stack stack =
      read_llama(config, description,
                 {.sizes = {4096, 32, 32, 14336, 8, derived, 131072}, .attention_bias = nullptr, .bias = nullptr});
  if (const auto window = read_window(config, 4096)) stack.model.mask.left = *window;
  add_stack(description, std::move(stack), config);
}

// Sets the windows of Qwen: layer_types, or in older versions all layers from max_window_layers on.
void read_qwen_windows(Config& config, Stack& stack) {
  const std::size_t first = config.size("", {"max_window_layers"}, 28);
  std::vector<bool> sliding(stack.model.layers);
  for (std::size_t i = 0; i < sliding.size(); ++i) sliding[i] = i >= first;
  sliding = sliding_layers(config, sliding);
  if (config.flag("windows", {"use_sliding_window"}, false))
    set_windows(config, stack, sliding, read_window(config, 4096));
}

void qwen2(Config& config, Description& description) {
  Stack stack =
      read_llama(config, description,
                 {.sizes = {4096, 32, 32, 22016, 32, derived, 32768}, .attention_bias = nullptr, .bias = nullptr});
  stack.model.projection_bias = Bias::with;
  read_qwen_windows(config, stack);
  add_stack(description, std::move(stack), config);
}

void qwen3(Config& config, Description& description) {
  Stack stack = read_llama(config, description, {.sizes = {4096, 32, 32, 22016, 32, 128, 32768}, .bias = nullptr});
  stack.model.query_key_norm.over = HeadNorm::head;
  read_qwen_windows(config, stack);
  add_stack(description, std::move(stack), config);
}

void seed_oss(Config& config, Description& description) {
  Stack stack =
      read_llama(config, description, {.sizes = {4096, 64, 80, 27648, 8, 128, 524288}, .has_attention_bias = true});
  stack.model.output_bias = bias_if(config.flag("output_bias", {"attention_out_bias"}, false));
  add_stack(description, std::move(stack), config);
}

void ernie4_5(Config& config, Description& description) {
  add_stack(description,
            read_llama(config, description,
                       {.sizes = {1024, 18, 16, 3072, 2, 128, 131072},
                        .epsilon = 1e-5,
                        .angles = {.base = 500000, .pairing = Pairing::neighbours},
                        .attention_bias = "use_bias",
                        .bias = "use_bias",
                        .head = {.tied = true}}),
            config);
}

void helium(Config& config, Description& description) {
  Stack stack = read_llama(config, description,
                           {.sizes = {2560, 24, 20, 7040, 20, 128, 4096},
                            .epsilon = 1e-8,
                            .angles = {.base = 100000, .pairing = Pairing::neighbours}});
  stack.model.output_bias = Bias::without;
  add_stack(description, std::move(stack), config);
}

void smollm3(Config& config, Description& description) {
  Stack stack = read_llama(
      config, description,
      {.sizes = {2048, 36, 16, 11008, 4, derived, 32768}, .angles = {.base = 2000000}, .head = {.tied = true}});
  std::vector<bool> rotated =
      all_but_every(config.size("unrotated", {"no_rope_layer_interval"}, 4), stack.model.layers);
  if (const nlohmann::json* list = config.find("no_rope_layers")) {
    config.note("unrotated", "no_rope_layers");
    if (!list->is_array() || list->size() != rotated.size()) config.fail("no_rope_layers", "a number for each layer");
    for (std::size_t i = 0; i < rotated.size(); ++i) rotated[i] = (*list)[i] != 0;
  }
  const bool slides = config.flag("windows", {"use_sliding_window"}, false);
  const auto window = read_window(config, std::nullopt);
  std::vector<bool> sliding(stack.model.layers);
  for (std::size_t i = 0; i < sliding.size(); ++i) sliding[i] = slides && !rotated[i];
  sliding = sliding_layers(config, sliding);
  set_windows(config, stack, sliding, window, rotated);
  add_stack(description, std::move(stack), config);
}

void stablelm(Config& config, Description& description) {
  Stack stack = read_llama(config, description,
                           {.sizes = {2560, 32, 32, 6912, 32, 0, 4096},
                            .epsilon = 1e-5,
                            .angles = {.share = 0.25},
                            .norm_kind = NormKind::layer,
                            .attention_bias = "use_qkv_bias",
                            .bias = nullptr});
  Model& model = stack.model;
  model.output_bias = Bias::without;
  if (config.flag("residual", {"use_parallel_residual"}, false)) model.residual = Residual::parallel_one_norm;
  if (config.flag("query_key_norm", {"qk_layernorm"}, false))
    model.query_key_norm = {.over = HeadNorm::each_head, .kind = NormKind::layer};
  add_stack(description, std::move(stack), config);
}

void granite(Config& config, Description& description) {
  const double divisor = config.number("", {"logits_scaling"}, 1);
  if (!(divisor >= 1e-30)) config.fail("logits_scaling", "a number above 0");
  Stack stack = read_llama(config, description,
                           {.sizes = {4096, 32, 32, 11008, derived, derived, 2048},
                            .scale = config.number("", {"embedding_multiplier"}, 1),
                            .head = {.scale = static_cast<float>(1 / divisor)}});
  stack.model.score.scale = static_cast<float>(config.number("score.scale", {"attention_multiplier"}, 1));
  stack.model.residual_scale = static_cast<float>(config.number("residual_scale", {"residual_multiplier"}, 1));
  description.outside = {"embeddings times embedding_multiplier", "head divided by logits_scaling"};
  add_stack(description, std::move(stack), config);
}

void olmo(Config& config, Description& description) {
  Stack stack = read_llama(config, description,
                           {.sizes = {4096, 32, 32, 11008, derived, derived, 2048},
                            .epsilon = 1e-5,
                            .norm_kind = NormKind::layer,
                            .bias = nullptr});
  stack.epsilon = 1e-5f;
  stack.model.norm_bias = Bias::without;
  if (config.has("clip_qkv")) config.refuse("clip_qkv", "Ladon does not clip queries, keys and values");
  add_stack(description, std::move(stack), config);
}

void olmo2(Config& config, Description& description) {
  Stack stack = read_llama(config, description,
                           {.sizes = {4096, 32, 32, 11008, derived, derived, 2048}, .epsilon = 1e-5, .bias = nullptr});
  stack.model.norm = NormOrder::output;
  stack.model.query_key_norm.over = HeadNorm::all;
  add_stack(description, std::move(stack), config);
}

// Layers without a window have other angles: rope_scaling is only for them.
void olmo3(Config& config, Description& description) {
  const Angles angles{.base = 500000};
  Stack stack = read_llama(
      config, description,
      {.sizes = {4096, 32, 32, 11008, derived, derived, 2048}, .epsilon = 1e-5, .angles = angles, .bias = nullptr});
  stack.model.norm = NormOrder::output;
  stack.model.query_key_norm.over = HeadNorm::all;
  std::vector<Rotary> rotary{rotary_of_type(config, stack, angles, "full_attention"),
                             rotary_of_type(config, stack, angles, "sliding_attention")};
  if (!config.inner("rope_parameters").has("sliding_attention"))  // before transformers 5
    rotary[1] = {.scaling = {.base = rotary[0].scaling.base}};
  const auto window = read_window(config, 4096);
  const auto sliding = sliding_layers(config, all_but_every(4, stack.model.layers));
  set_windows(config, stack, sliding, window, {}, rotary);
  add_stack(description, std::move(stack), config);
}

// Layers without a window are not rotated, if the model has layers with a window.
void exaone4(Config& config, Description& description) {
  Stack stack = read_llama(
      config, description,
      {.sizes = {4096, 32, 32, 16384, 32, derived, 2048}, .epsilon = 1e-5, .attention_bias = nullptr, .bias = nullptr});
  stack.model.norm = NormOrder::output;
  stack.model.query_key_norm.over = HeadNorm::head;
  std::size_t period = 0;
  const nlohmann::json* pattern = config.find("sliding_window_pattern");
  if (pattern != nullptr && pattern->is_string()) {
    const auto& text = pattern->get_ref<const std::string&>();  // such as "LLLG": the last layer of four is full
    if (text.find('G') + 1 != text.size()) config.fail("sliding_window_pattern", "a text such as \"LLLG\"");
    period = text.size();
  } else {
    period = config.size("", {"sliding_window_pattern"}, 4);
  }
  const auto window = read_window(config, 4096);
  const auto sliding = sliding_layers(config, all_but_every(window ? period : 0, stack.model.layers));
  set_windows(config, stack, sliding, window, window ? sliding : std::vector<bool>{});
  add_stack(description, std::move(stack), config);
}

Stack read_cohere(Config& config, Description& description, double base) {
  const double scale = config.number("", {"logit_scale"}, 0.0625);
  Stack stack = read_llama(config, description,
                           {.sizes = {8192, 40, 64, 22528, derived, derived, 8192},
                            .epsilon = 1e-5,
                            .angles = {.base = base, .pairing = Pairing::neighbours},
                            .norm_kind = NormKind::layer,
                            .bias = nullptr,
                            .head = {.tied = true, .scale = static_cast<float>(scale)}});
  stack.model.norm_bias = Bias::without;
  stack.model.residual = Residual::parallel_one_norm;
  description.outside = {"embeddings", "head times logit_scale"};
  return stack;
}
void cohere(Config& config, Description& description) {
  Stack stack = read_cohere(config, description, 500000);
  if (config.flag("query_key_norm", {"use_qk_norm"}, false))
    stack.model.query_key_norm = {.over = HeadNorm::each_head, .kind = NormKind::layer};
  add_stack(description, std::move(stack), config);
}
// Layers without a window are not rotated.
void cohere2(Config& config, Description& description) {
  Stack stack = read_cohere(config, description, 10000);
  const auto window = read_window(config, 4096);
  const std::size_t period = config.size("", {"sliding_window_pattern"}, 4);
  const auto sliding = sliding_layers(config, all_but_every(period, stack.model.layers));
  set_windows(config, stack, sliding, window, window ? sliding : std::vector<bool>(stack.model.layers));
  add_stack(description, std::move(stack), config);
}

void nemotron(Config& config, Description& description) {
  Stack stack = read_llama(config, description,
                           {.sizes = {6144, 32, 48, 24576, derived, derived, 4096},
                            .activation = "relu2",
                            .epsilon = 1e-5,
                            .angles = {.share = 0.5},
                            .norm_kind = NormKind::layer,
                            .gated = false});
  stack.model.norm_gain = NormGain::one_plus_weight;
  add_stack(description, std::move(stack), config);
}

void arcee(Config& config, Description& description) {
  add_stack(description,
            read_llama(config, description,
                       {.sizes = {2560, 32, 32, 18432, derived, derived, 4096},
                        .activation = "relu2",
                        .epsilon = 1e-5,
                        .gated = false}),
            config);
}

void apertus(Config& config, Description& description) {
  Stack stack = read_llama(config, description,
                           {.sizes = {4096, 32, 32, 14336, derived, derived, 65536},
                            .activation = "xielu",
                            .epsilon = 1e-5,
                            .angles = {.base = 12000000},
                            .gated = false,
                            .bias = nullptr});
  stack.model.query_key_norm.over = HeadNorm::head;
  if (!config.has("rope_parameters") && !config.has("rope_scaling"))
    stack.rotary[0].scaling = {
        .kind = RotaryKind::llama3, .base = stack.rotary[0].scaling.base, .factor = 8, .original_positions = 8192};
  add_stack(description, std::move(stack), config);
}

// The norms have no weights, and the angles are negative.
void nanochat(Config& config, Description& description) {
  const double cap = config.is_null("final_logit_softcapping") ? 0 : config.number("", {"final_logit_softcapping"}, 15);
  Stack stack = read_llama(config, description,
                           {.sizes = {768, 12, 6, 8192, derived, derived, 2048},
                            .activation = "relu2",
                            .gated = false,
                            .bias = nullptr,
                            .head = {.softcap = static_cast<float>(cap)}});
  stack.input.steps.push_back(norm_of(stack, ""));
  stack.model.query_key_norm = {.over = HeadNorm::head, .after_rotation = true};
  stack.rotary[0].scaling.negated = true;
  description.outside = {"embeddings and their norm", "head with final_logit_softcapping"};
  add_stack(description, std::move(stack), config);
}

// Phi-3 and GLM have one tensor for the gate and linear1.
void phi3(Config& config, Description& description) {
  Stack stack = read_llama(config, description,
                           {.sizes = {3072, 32, 32, 8192, derived, derived, 4096},
                            .epsilon = 1e-5,
                            .attention_bias = nullptr,
                            .bias = nullptr});
  stack.model.layout = LayoutKind::in_proj;
  if (const auto window = read_window(config, std::nullopt)) stack.model.mask.left = *window;
  add_stack(description, std::move(stack), config);
}

Stack read_glm(Config& config, Description& description) {
  Stack stack = read_llama(config, description,
                           {.sizes = {4096, 40, 32, 13696, 2, 128, 131072},
                            .epsilon = 1.5625e-7,
                            .angles = {.share = 0.5, .pairing = Pairing::neighbours},
                            .has_attention_bias = true,
                            .bias = nullptr});
  stack.model.output_bias = Bias::without;
  return stack;
}
void glm(Config& config, Description& description) { add_stack(description, read_glm(config, description), config); }
void glm4(Config& config, Description& description) {
  Stack stack = read_glm(config, description);
  stack.model.norm = NormOrder::both;
  add_stack(description, std::move(stack), config);
}

void starcoder2(Config& config, Description& description) {
  Stack stack = read_llama(config, description,
                           {.sizes = {3072, 30, 24, 12288, 2, derived, 4096},
                            .activation = "gelu_pytorch_tanh",
                            .epsilon = 1e-5,
                            .norm_kind = NormKind::layer,
                            .gated = false,
                            .attention_bias = "use_bias",
                            .has_attention_bias = true,
                            .bias = nullptr,
                            .head = {.tied = true}});
  stack.model.bias = bias_if(config.flag("bias", {"use_bias"}, true));
  if (const auto window = read_window(config, std::nullopt)) stack.model.mask.left = *window;
  add_stack(description, std::move(stack), config);
}

// The size of the feed-forward network of LFM2 is two thirds of intermediate_size, rounded up.
std::size_t lfm2_feed_forward(Config& config, std::size_t given) {
  std::size_t size = config.size("feed_forward", {"block_ff_dim", "intermediate_size"}, given);
  if (!config.flag("", {"block_auto_adjust_ff_dim"}, true)) return size;
  const std::size_t unit = config.size("", {"block_multiple_of"}, 256);
  size = config.scaled(2 * size / 3, "block_ffn_dim_multiplier", 1);
  return unit == 0 ? size : (size + unit - 1) / unit * unit;
}
void lfm2(Config& config, Description& description) {
  Stack stack = read_llama(config, description,
                           {.sizes = {2560, 32, 32, 12288, 8, derived, 128000},
                            .final_norm = "embedding_norm",
                            .epsilon = 1e-5,
                            .angles = {.base = 1000000},
                            .attention_bias = nullptr,
                            .bias = nullptr,
                            .head = {.tied = true}});
  stack.model.feed_forward = lfm2_feed_forward(config, stack.model.feed_forward);
  stack.model.query_key_norm.over = HeadNorm::head;
  const nlohmann::json* types = config.find("layer_types");
  if (types != nullptr && std::find(types->begin(), types->end(), "conv") != types->end())
    config.refuse("layer_types", "Ladon lacks the layers with a convolution");
  if (types == nullptr && config.has("full_attn_idxs") && config.find("full_attn_idxs")->size() != stack.model.layers)
    config.refuse("full_attn_idxs", "Ladon lacks the layers with a convolution");
  add_stack(description, std::move(stack), config);
}

constexpr Family llama_like_families[] = {
    {"apertus", apertus},       {"arcee", arcee},       {"cohere", cohere},     {"cohere2", cohere2},
    {"ernie4_5", ernie4_5},     {"exaone4", exaone4},   {"glm", glm},           {"glm4", glm4},
    {"granite", granite},       {"helium", helium},     {"lfm2", lfm2},         {"llama", llama},
    {"mistral", mistral},       {"nanochat", nanochat}, {"nemotron", nemotron}, {"olmo", olmo},
    {"olmo2", olmo2},           {"olmo3", olmo3},       {"phi3", phi3},         {"qwen2", qwen2},
    {"qwen3", qwen3},           {"seed_oss", seed_oss}, {"smollm3", smollm3},   {"stablelm", stablelm},
    {"starcoder2", starcoder2},
};

}  // namespace

std::span<const Family> llama_like() { return llama_like_families; }

}  // namespace ladon::families
