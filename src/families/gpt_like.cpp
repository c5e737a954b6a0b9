// SPDX-License-Identifier: Apache-2.0
// GPT-2 and decoders with biases and LayerNorms.
#include <utility>
#include <vector>

#include "families.hpp"
#include "texts.hpp"

namespace ladon::families {
namespace {

// Reads a stack whose sizes have the keys n_embd, n_head and so on.
Stack read_gpt(Config& config, Description& description, const Names& names, const Sizes& sizes,
               const char* activation = "gelu_new",
               Config::Keys activation_keys = {"activation_function", "hidden_act", "activation"}) {
  Stack stack = read_stack(config, names, sizes);
  read_activation(config, stack, activation, activation_keys);
  read_epsilon(config, stack, 1e-5);
  description.outside = {"embeddings", "head"};
  return stack;
}

// Reads the tables and the head of GPT-2.
void read_wte_wpe(Config& config, Description& description, Stack& stack) {
  read_tokens(config, stack, "wte");
  add_positions(stack, "wpe");
  read_causal_head(config, description, stack, {.tied = true, .tokens = "classifier"});
}

void check_gpt2(Config& config, Stack& stack) {
  if (!config.flag("score.scale", {"scale_attn_weights"}, true)) stack.model.score.scale = 1;
  if (config.flag("", {"scale_attn_by_inverse_layer_idx"}, false))
    config.refuse("scale_attn_by_inverse_layer_idx", "Ladon has one scale for all layers");
  if (config.flag("", {"add_cross_attention"}, false))
    config.refuse("add_cross_attention", "Ladon lacks decoders with these names");
}

void gpt2(Config& config, Description& description) {
  Stack stack = read_gpt(config, description, {"decoder", "h", "ln_f"}, {768, 12, 12, derived, 0, 0, 1024});
  stack.model.layout = LayoutKind::in_proj_in_out;
  check_gpt2(config, stack);
  read_wte_wpe(config, description, stack);
  add_stack(description, std::move(stack), config);
}

// GPT-1 calls the approximation "gelu".
void openai_gpt(Config& config, Description& description) {
  Stack stack = read_gpt(config, description, {"decoder", "h"}, {768, 12, 12, derived, 0, 0, 512}, "gelu", {"afn"});
  stack.model.norm = NormOrder::post;
  stack.model.layout = LayoutKind::in_proj_in_out;
  if (stack.model.activation == Activation::gelu) stack.model.activation = Activation::gelu_tanh;
  stack.model.feed_forward = 4 * stack.model.model;
  read_tokens(config, stack, "tokens_embed");
  add_positions(stack, "positions_embed");
  read_causal_head(config, description, stack, {.tied = true});
  add_stack(description, std::move(stack), config);
}

void gpt_bigcode(Config& config, Description& description) {
  Stack stack =
      read_gpt(config, description, {"decoder", "h", "ln_f"}, {768, 12, 12, derived, 0, 0, 1024}, "gelu_pytorch_tanh");
  stack.model.layout = LayoutKind::in_proj;
  if (config.flag("kv_heads", {"multi_query"}, true)) {
    stack.model.kv_heads = 1;
  } else {
    stack.model.projection_blocks = stack.model.heads;
  }
  check_gpt2(config, stack);
  read_wte_wpe(config, description, stack);
  add_stack(description, std::move(stack), config);
}

// Returns, for each layer of GPT-Neo, whether its attention is local. attention_types is a list of patterns and their
// numbers of repetitions, such as [[["global", "local"], 12]].
std::vector<bool> local_layers(Config& config, std::size_t layers) {
  std::vector<bool> local(layers);
  for (std::size_t i = 0; i < layers; ++i) local[i] = i % 2 == 1;
  const nlohmann::json* types = config.find("attention_types");
  config.note("windows", "attention_types");
  if (types == nullptr) return local;
  nlohmann::json names = nlohmann::json::array();
  const auto wrong = [&] { config.fail("attention_types", "patterns of \"global\" and \"local\" for all layers"); };
  for (const auto& entry : *types) {
    if (!entry.is_array() || entry.size() != 2 || !entry[1].is_number_unsigned()) wrong();
    if (!entry[0].is_array() || entry[0].empty()) wrong();
    for (std::size_t i = 0; i < entry[1].get<std::size_t>() && names.size() < layers; ++i)
      names.insert(names.end(), entry[0].begin(), entry[0].end());
  }
  if (names.size() < layers) wrong();
  for (std::size_t i = 0; i < layers; ++i) {
    if (names[i] != "global" && names[i] != "local") wrong();
    local[i] = names[i] == "local";
  }
  return local;
}

void gpt_neo(Config& config, Description& description) {
  Stack stack = read_gpt(config, description, {"decoder", "h", "ln_f"}, {2048, 24, 16, derived, 0, 0, 2048});
  stack.model.score.scale = 1;
  stack.model.projection_bias = Bias::without;
  read_wte_wpe(config, description, stack);
  const std::size_t window = config.size("", {"window_size"}, 256);
  if (window == 0) config.fail("window_size", "at least 1");
  const auto local = local_layers(config, stack.model.layers);
  std::vector<LayerTraits> layers(stack.model.layers);
  for (std::size_t i = 0; i < layers.size(); ++i)
    if (local[i]) layers[i].window = window - 1;
  set_layers(config, stack, layers);
  add_stack(description, std::move(stack), config);
}

// GPT-J and CodeGen rotate the first rotary_dim features of each head, and have one norm for both sublayers.
Stack read_gptj(Config& config, Description& description) {
  Stack stack = read_gpt(config, description, {"decoder", "h", "ln_f"}, {4096, 28, 16, derived, 0, 0, 2048});
  Model& model = stack.model;
  model.residual = Residual::parallel_one_norm;
  model.projection_bias = model.output_bias = Bias::without;
  model.position = {.pairing = Pairing::neighbours, .width = config.size("position.width", {"rotary_dim"}, 64)};
  if (config.is_null("rotary_dim") || model.position.width % 2 != 0 || model.position.width * model.heads > model.model)
    config.fail("rotary_dim", "an even number of at most the width of a head");
  stack.rotary = {Rotary{}};
  read_tokens(config, stack, "wte");
  read_causal_head(config, description, stack, {.bias = "lm_head.bias"});
  return stack;
}
void gptj(Config& config, Description& description) { add_stack(description, read_gptj(config, description), config); }
void codegen(Config& config, Description& description) {
  Stack stack = read_gptj(config, description);
  stack.model.layout = LayoutKind::in_proj;
  stack.model.projection_blocks = 4;
  stack.model.values_before_keys = true;
  add_stack(description, std::move(stack), config);
}

void gpt_neox(Config& config, Description& description) {
  Stack stack = read_gpt(config, description, {"decoder", "layers", "final_layer_norm"},
                         {6144, 44, 64, 24576, 0, 0, 2048}, "gelu");
  stack.model.layout = LayoutKind::in_proj;
  stack.model.projection_blocks = stack.model.heads;
  read_attention_bias(config, stack, "attention_bias", true);
  if (config.flag("residual", {"use_parallel_residual"}, true)) stack.model.residual = Residual::parallel;
  read_rotary(config, stack, {.share = 0.25});
  read_tokens(config, stack, "embed_in");
  read_causal_head(config, description, stack, {.tokens = "classifier", .name = "embed_out"});
  add_stack(description, std::move(stack), config);
}

void phi(Config& config, Description& description) {
  Stack stack = read_gpt(config, description, {"decoder", "layers", "final_layernorm"},
                         {2048, 24, 32, 8192, derived, derived, 2048});
  stack.model.residual = Residual::parallel_one_norm;
  if (config.flag("query_key_norm", {"qk_layernorm"}, false))
    stack.model.query_key_norm = {.over = HeadNorm::head, .kind = NormKind::layer, .bias = Bias::with};
  read_rotary(config, stack, {.share = 0.5});
  read_tokens(config, stack, "embed_tokens");
  read_causal_head(config, description, stack, {.bias = "lm_head.bias"});
  add_stack(description, std::move(stack), config);
}

void persimmon(Config& config, Description& description) {
  Stack stack = read_gpt(config, description, {"decoder", "layers", "final_layernorm"},
                         {4096, 36, 64, 16384, 0, 0, 16384}, "relu2");
  stack.model.layout = LayoutKind::in_proj;
  stack.model.projection_blocks = stack.model.heads;
  if (config.flag("query_key_norm", {"qk_layernorm"}, true))
    stack.model.query_key_norm = {.over = HeadNorm::head, .kind = NormKind::layer, .bias = Bias::with};
  read_rotary(config, stack, {.share = 0.5});
  read_tokens(config, stack, "embed_tokens");
  read_causal_head(config, description, stack, {});
  add_stack(description, std::move(stack), config);
}

void bloom(Config& config, Description& description) {
  Stack stack = read_stack(config, {"decoder", "h", "ln_f"}, {64, 2, 8, derived});
  Model& model = stack.model;
  model.feed_forward = 4 * model.model;
  model.activation = Activation::gelu_tanh;
  model.mask.alibi = true;
  model.layout = LayoutKind::in_proj;
  model.projection_blocks = model.heads;
  read_epsilon(config, stack, 1e-5);
  if (config.flag("", {"apply_residual_connection_post_layernorm"}, false))
    config.refuse("apply_residual_connection_post_layernorm", "Ladon adds the input of a norm, not its output");
  read_tokens(config, stack, "word_embeddings");
  stack.input.steps.push_back(norm_of(stack, "word_embeddings_layernorm"));
  read_causal_head(config, description, stack, {.tied = true, .tokens = "classifier"});
  description.outside = {"embeddings and their norm", "head"};
  add_stack(description, std::move(stack), config);
}

// The norms of Falcon: one for both sublayers (7B), two in parallel (40B), or one after another.
void read_falcon_norms(Config& config, Model& model, bool has_groups) {
  const std::size_t norms = config.size("residual", {"num_ln_in_parallel_attn"}, has_groups ? 2 : 1);
  if (!config.flag("residual", {"parallel_attn"}, true)) {
    if (has_groups) config.refuse("parallel_attn", "Ladon lacks this order of sublayers");
  } else {
    if (norms == 2 && !has_groups) config.refuse("num_ln_in_parallel_attn", "Ladon lacks this order of norms");
    model.residual = norms == 2 ? Residual::parallel : Residual::parallel_one_norm;
  }
}

void falcon(Config& config, Description& description) {
  Stack stack = read_gpt(config, description, {"decoder", "h", "ln_f"}, {4544, 32, 71, derived, 0, 0, 2048}, "gelu",
                         {"activation"});
  Model& model = stack.model;
  model.bias = bias_if(config.flag("bias", {"bias"}, false));
  read_attention_bias(config, stack, "bias", false);
  model.layout = LayoutKind::in_proj;
  const bool has_groups = config.flag("kv_heads", {"new_decoder_architecture"}, false);
  if (has_groups) {
    model.kv_heads = config.size("kv_heads", {"num_kv_heads", "n_head_kv"}, model.heads);
    if (model.kv_heads == 0) config.fail("num_kv_heads", "at least 1");
    model.projection_blocks = model.kv_heads;
  } else if (config.flag("kv_heads", {"multi_query"}, true)) {
    model.kv_heads = 1;
  } else {
    model.projection_blocks = model.heads;
  }
  read_falcon_norms(config, model, has_groups);
  if (config.flag("", {"alibi"}, false))
    config.refuse("alibi", "Falcon rounds each key's bias to bfloat16, so the bias depends on more than the distance");
  read_rotary(config, stack);
  read_tokens(config, stack, "word_embeddings");
  read_causal_head(config, description, stack, {.tied = true, .tokens = "classifier"});
  add_stack(description, std::move(stack), config);
}

// The first two rows of the table of positions are not for tokens.
constexpr std::size_t first_position = 2;

void read_opt_ends(Config& config, Description& description, Stack& stack) {
  const std::size_t width = config.size("", {"word_embed_proj_dim"}, stack.model.model);
  read_tokens(config, stack, "decoder.embed_tokens", 1, width);
  if (width != stack.model.model) {
    stack.input.steps.push_back(linear("decoder.project_in", stack.model.model, After::nothing, Bias::without));
    stack.behind = {linear("decoder.project_out", width, After::nothing, Bias::without)};
  }
  add_positions(stack, "decoder.embed_positions", first_position);
  read_causal_head(config, description, stack, {.tied = true});
}

void opt(Config& config, Description& description) {
  const bool pre = config.flag("norm", {"do_layer_norm_before"}, true);
  const bool has_norm = pre && !config.flag("", {"_remove_final_layer_norm"}, false);
  Stack stack = read_gpt(config, description, {"decoder", "decoder.layers", has_norm ? "decoder.final_layer_norm" : ""},
                         {768, 12, 12, 3072, 0, 0, 2048}, "relu");
  Model& model = stack.model;
  model.norm = pre ? NormOrder::pre : NormOrder::post;
  model.bias = bias_if(config.flag("bias", {"enable_bias"}, true));
  read_attention_bias(config, stack, "enable_bias", true);
  model.norm_bias = bias_if(config.flag("norm_bias", {"layer_norm_elementwise_affine"}, true));
  stack.epsilon = 1e-5f;
  read_opt_ends(config, description, stack);
  description.outside.push_back("project_in and project_out, if word_embed_proj_dim differs from hidden_size");
  add_stack(description, std::move(stack), config);
}

// The layers of XGLM and BioGPT ignore layer_norm_eps.
Stack read_xglm(Config& config, Description& description, std::size_t positions) {
  Stack stack =
      read_gpt(config, description, {"decoder", "layers", "layer_norm"}, {1024, 24, 16, 4096, 0, 0, positions}, "gelu");
  stack.epsilon = 1e-5f;
  const bool scaled = config.flag("", {"scale_embedding"}, true);
  read_tokens(config, stack, "embed_tokens", scaled ? root_of(stack.model.model) : 1);
  description.outside = {"embeddings, scaled, plus positions", "head"};
  return stack;
}
void xglm(Config& config, Description& description) {
  Stack stack = read_xglm(config, description, 2048);
  stack.input.steps.push_back(
      AddPositions{.rows = stack.positions + first_position, .first = first_position, .closed = true});
  read_causal_head(config, description, stack, {.tied = true});
  add_stack(description, std::move(stack), config);
}
void biogpt(Config& config, Description& description) {
  Stack stack = read_xglm(config, description, 1024);
  add_positions(stack, "embed_positions", first_position);
  read_causal_head(config, description, stack, {.tied = true, .tokens = "classifier", .name = "output_projection"});
  add_stack(description, std::move(stack), config);
}

constexpr Family gpt_like_families[] = {
    {"biogpt", biogpt, "biogpt"},
    {"bloom", bloom, "transformer"},
    {"codegen", codegen, "transformer"},
    {"falcon", falcon, "transformer"},
    {"gpt2", gpt2, "transformer"},
    {"gpt_bigcode", gpt_bigcode, "transformer"},
    {"gpt_neo", gpt_neo, "transformer"},
    {"gpt_neox", gpt_neox, "gpt_neox"},
    {"gptj", gptj, "transformer"},
    {"openai-gpt", openai_gpt, "transformer"},
    {"opt", opt},
    {"persimmon", persimmon},
    {"phi", phi},
    {"xglm", xglm},
};

}  // namespace

std::span<const Family> gpt_like() { return gpt_like_families; }

}  // namespace ladon::families
