// SPDX-License-Identifier: Apache-2.0
// Encoders of texts.
#include <utility>
#include <vector>

#include "families.hpp"

namespace ladon::families {
namespace {

constexpr Sizes bert_sizes{.positions = 512};

// What layers of BERT and its relatives share: norms behind the residual connections, and biases everywhere.
Stack read_post_norm(Config& config, const Names& names, const Sizes& sizes, const char* activation = "gelu") {
  Stack stack = read_stack(config, names, sizes);
  stack.model.norm = NormOrder::post;
  read_activation(config, stack, activation, {"hidden_act", "activation", "activation_function"});
  read_epsilon(config, stack, 1e-12);
  if (config.text("", {"position_embedding_type"}, "absolute") != "absolute")
    config.refuse("position_embedding_type", "Ladon lacks this bias, which depends on the queries");
  return stack;
}

void read_bert_of(Config& config, Description& description, const Sizes& sizes) {
  Stack stack = read_post_norm(config, {"encoder", "encoder.layer"}, sizes);
  stack.model.mask.causal = config.flag("mask.causal", {"is_decoder"}, false);
  if (config.flag("", {"add_cross_attention"}, false))
    config.refuse("add_cross_attention", "Ladon lacks decoders with these names");
  description.outside = {"embeddings and their norm", "pooler and heads"};
  add_stack(description, std::move(stack), config);
}
void bert(Config& config, Description& description) { read_bert_of(config, description, bert_sizes); }
void electra(Config& config, Description& description) {
  read_bert_of(config, description, {256, 12, 4, 1024, 0, 0, 512});
  description.outside.push_back("embeddings_project, if embedding_size differs from hidden_size");
}

void albert(Config& config, Description& description) {
  Stack stack =
      read_post_norm(config, {"encoder", "encoder.albert_layer_groups"}, {4096, 12, 64, 16384, 0, 0, 512}, "gelu_new");
  if (config.size("", {"inner_group_num"}, 1) != 1)
    config.refuse("inner_group_num", "Ladon lacks groups of several layers");
  stack.sets_of_weights = config.size("", {"num_hidden_groups"}, 1);
  if (stack.sets_of_weights == 0 || stack.model.layers % stack.sets_of_weights != 0)
    config.fail("num_hidden_groups", "a divisor of num_hidden_layers");
  description.outside = {"embeddings, their norm and embedding_hidden_mapping_in", "pooler and heads"};
  add_stack(description, std::move(stack), config);
}

void distilbert(Config& config, Description& description) {
  Stack stack = read_post_norm(config, {"encoder", "transformer.layer"}, {768, 6, 12, 3072, 0, 0, 512});
  stack.epsilon = 1e-12f;
  description.outside = {"embeddings and their norm", "heads"};
  add_stack(description, std::move(stack), config);
}

void mpnet(Config& config, Description& description) {
  Stack stack = read_post_norm(config, {"encoder", "encoder.layer"}, bert_sizes);
  stack.model.mask.relative = true;
  stack.relative_bias = {.tensor = "encoder.relative_attention_bias.weight",
                         .buckets = {.count = config.size("", {"relative_attention_num_buckets"}, 32)}};
  description.outside = {"embeddings and their norm", "pooler and heads"};
  add_stack(description, std::move(stack), config);
}

void esm(Config& config, Description& description) {
  Stack stack = read_stack(config, {"encoder", "encoder.layer", "encoder.emb_layer_norm_after"}, {.positions = 1026});
  stack.model.activation = Activation::gelu;
  read_epsilon(config, stack, 1e-12);
  const std::string kind = config.text("position", {"position_embedding_type"}, "absolute");
  if (kind == "rotary") {
    read_rotary(config, stack);
  } else if (kind != "absolute") {
    config.refuse("position_embedding_type", "Ladon lacks this bias, which depends on the queries");
  }
  if (config.flag("", {"is_folding_model"}, false)) config.refuse("is_folding_model", "Ladon lacks the folding trunk");
  description.outside = {"embeddings, and the scale of token_dropout", "pooler and heads"};
  add_stack(description, std::move(stack), config);
}

// Whether the layers of each kind are rotated by other angles, and the window of every second and third layer.
void modernbert(Config& config, Description& description) {
  Stack stack = read_stack(config, {"encoder", "layers", "final_norm"}, {768, 22, 12, 1152, 0, 0, 8192});
  Model& model = stack.model;
  model.gated = true;
  model.layout = LayoutKind::in_proj;
  model.norm_bias = bias_if(config.flag("norm_bias", {"norm_bias"}, false));
  model.bias = bias_if(config.flag("bias", {"mlp_bias"}, false));
  read_attention_bias(config, stack, "attention_bias", false);
  read_activation(config, stack, "gelu", {"hidden_activation"});
  read_epsilon(config, stack, 1e-5);
  read_rotary(config, stack);
  const std::vector<Rotary> angles{
      rotary_of_type(config, stack, {config.number("", {"global_rope_theta"}, 160000)}, "full_attention"),
      rotary_of_type(config, stack, {config.number("", {"local_rope_theta"}, 10000)}, "sliding_attention")};
  const std::size_t period = config.size("windows", {"global_attn_every_n_layers"}, 3);
  std::vector<bool> sliding(model.layers);
  for (std::size_t i = 0; i < sliding.size(); ++i) sliding[i] = period != 0 && i % period != 0;
  sliding = sliding_layers(config, sliding);
  const std::size_t window = config.size("", {"local_attention"}, 128) / 2;
  std::vector<LayerTraits> layers(model.layers);
  for (std::size_t i = 0; i < layers.size(); ++i)
    if (sliding[i]) layers[i] = {.window = window, .rotary = 1};
  layers[0].unnormed_attention = true;
  set_layers(config, stack, layers, angles);
  description.outside = {"embeddings and their norm", "heads"};
  add_stack(description, std::move(stack), config);
}

void nomic_bert(Config& config, Description& description) {
  Stack stack = read_stack(config, {"encoder", "encoder.layers"}, {768, 12, 12, 3072, 0, derived, 2048});
  Model& model = stack.model;
  model.norm = NormOrder::post;
  model.gated = true;
  model.layout = LayoutKind::in_proj;
  model.bias = model.projection_bias = model.output_bias = Bias::without;
  if (config.text("activation", {"hidden_act", "activation_function"}, "silu") == "swiglu") {
    model.activation = Activation::silu;  // the name in the oldest config.json
  } else {
    read_activation(config, stack, "silu", {"hidden_act", "activation_function"});
  }
  read_epsilon(config, stack, 1e-12);
  read_rotary(config, stack, {.base = 1000});
  description.outside = {"embeddings and their norm", "pooler and heads"};
  add_stack(description, std::move(stack), config);
}

void gte(Config& config, Description& description) {
  Stack stack = read_stack(config, {"encoder", "encoder.layer"}, {768, 12, 12, 3072, 0, derived, 8192});
  stack.model.norm = NormOrder::post;
  stack.model.gated = true;
  stack.model.layout = LayoutKind::in_proj;
  read_activation(config, stack, "gelu");
  read_epsilon(config, stack, 1e-12);
  read_rotary(config, stack, {.base = 160000});
  description.outside = {"embeddings and their norm", "pooler and heads"};
  add_stack(description, std::move(stack), config);
}

void eurobert(Config& config, Description& description) {
  Stack stack = read_stack(config, {"encoder", "layers", "norm"}, {768, 12, 12, 3072, derived, derived, 8192});
  Model& model = stack.model;
  model.gated = true;
  model.norm_kind = NormKind::rms;
  model.bias = bias_if(config.flag("bias", {"mlp_bias"}, false));
  read_attention_bias(config, stack, "attention_bias", false);
  read_activation(config, stack, "silu");
  read_epsilon(config, stack, 1e-5);
  read_rotary(config, stack);
  description.outside = {"embeddings", "heads"};
  add_stack(description, std::move(stack), config);
}

void deberta(Config& config, Description&) {
  config.refuse("relative_attention", "Ladon lacks DeBERTa's products of queries and keys with relative positions");
}

constexpr Family bert_like_families[] = {
    {"albert", albert, "albert"},
    {"bert", bert, "bert"},
    {"camembert", bert, "roberta"},
    {"deberta", deberta},
    {"deberta-v2", deberta},
    {"distilbert", distilbert, "distilbert"},
    {"electra", electra, "electra"},
    {"ernie", bert, "ernie"},
    {"esm", esm, "esm"},
    {"eurobert", eurobert},
    {"gte", gte, "gte"},
    {"modernbert", modernbert},
    {"mpnet", mpnet, "mpnet"},
    {"nomic_bert", nomic_bert, "nomic_bert"},
    {"roberta", bert, "roberta"},
    {"xlm-roberta", bert, "roberta"},
};

}  // namespace

std::span<const Family> bert_like() { return bert_like_families; }

}  // namespace ladon::families
