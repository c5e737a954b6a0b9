// SPDX-License-Identifier: Apache-2.0
// Encoders of texts.
#include <utility>
#include <vector>

#include "families.hpp"
#include "texts.hpp"

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

// Adds the table of positions. In RoBERTa and its relatives, the table has rows for padding before row `first`.
void add_offset_positions(const Config& config, Stack& stack, std::size_t first) {
  if (stack.positions <= first) config.fail("max_position_embeddings", "more rows than those for padding");
  stack.positions -= first;
  add_positions(stack, "embeddings.position_embeddings", first);
}

// Sets the tables and the norm of BERT.
void read_bert_input(Config& config, Stack& stack, std::size_t first, std::size_t types, std::size_t features) {
  read_tokens(config, stack, "embeddings.word_embeddings", 1, features);
  read_types(config, stack, "embeddings.token_type_embeddings", "type_vocab_size", types);
  add_offset_positions(config, stack, first);
  if (config.flag("", {"use_task_id"}, false))  // ERNIE
    read_types(config, stack, "embeddings.task_type_embeddings", "task_type_vocab_size", 3, "");
  stack.input.steps.push_back(norm_of(stack, "embeddings.LayerNorm"));
}

// The heads of BERT. Without a function in the steps, there is no head of masked language models.
EncoderHeads bert_heads(const Stack& stack, const char* norm = "LayerNorm") {
  const auto after = after_of(stack.model.activation);
  const std::string all = "cls.predictions.", transform = all + "transform.";
  return {.pooler = "pooler.dense",
          .transform = {linear(transform + "dense", stack.model.model, after.value_or(After::nothing)),
                        norm_of(stack, transform + norm)},
          .decoder = after ? all + "decoder" : "",
          .bias = all + "bias"};
}

std::vector<Step> first_token(const Stack& stack, After after) {
  return {Pool{Pooling::first}, linear("classifier.dense", stack.model.model, after)};
}

EncoderHeads roberta_heads(const Stack& stack) {
  return {.pooler = "pooler.dense",
          .transform = {linear("lm_head.dense", stack.model.model, After::gelu), norm_of(stack, "lm_head.layer_norm")},
          .decoder = "lm_head.decoder",
          .bias = "lm_head.bias",
          .before = first_token(stack, After::tanh),
          .classifier = "classifier.out_proj"};
}

Stack read_bert(Config& config, Description& description, const Sizes& sizes = bert_sizes) {
  Stack stack = read_post_norm(config, {"encoder", "encoder.layer"}, sizes);
  stack.model.mask.causal = config.flag("mask.causal", {"is_decoder"}, false);
  if (config.flag("", {"add_cross_attention"}, false))
    config.refuse("add_cross_attention", "Ladon lacks decoders with these names");
  description.outside = {"embeddings and their norm", "pooler and heads"};
  return stack;
}
void bert(Config& config, Description& description) {
  Stack stack = read_bert(config, description);
  read_bert_input(config, stack, 0, 2, 0);
  read_encoder_heads(config, description, stack, bert_heads(stack));
  add_stack(description, std::move(stack), config);
}
void roberta(Config& config, Description& description) {
  Stack stack = read_bert(config, description);
  read_bert_input(config, stack, config.size("", {"pad_token_id"}, 1) + 1, 2, 0);
  read_encoder_heads(config, description, stack, roberta_heads(stack));
  add_stack(description, std::move(stack), config);
}

void electra(Config& config, Description& description) {
  Stack stack = read_bert(config, description, {256, 12, 4, 1024, 0, 0, 512});
  const std::size_t width = config.size("", {"embedding_size"}, 128);
  read_bert_input(config, stack, 0, 2, width);
  if (width != stack.model.model) stack.input.steps.push_back(linear("embeddings_project", stack.model.model));
  read_encoder_heads(config, description, stack,
                     {.transform = {linear("generator_predictions.dense", width, After::gelu),
                                    norm_of(stack, "generator_predictions.LayerNorm")},
                      .decoder = "generator_lm_head",
                      .bias = "generator_lm_head.bias",
                      .before = first_token(stack, After::gelu),
                      .classifier = "classifier.out_proj"});
  add_stack(description, std::move(stack), config);
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
  const std::size_t width = config.size("", {"embedding_size"}, 128);
  read_bert_input(config, stack, 0, 2, width);
  stack.input.steps.push_back(linear("encoder.embedding_hidden_mapping_in", stack.model.model));
  const auto after = after_of(stack.model.activation);
  read_encoder_heads(config, description, stack,
                     {.pooler = "pooler",
                      .transform = {linear("predictions.dense", width, after.value_or(After::nothing)),
                                    norm_of(stack, "predictions.LayerNorm")},
                      .decoder = after ? "predictions.decoder" : "",
                      .bias = "predictions.bias"});
  description.outside = {"embeddings, their norm and embedding_hidden_mapping_in", "pooler and heads"};
  add_stack(description, std::move(stack), config);
}

void distilbert(Config& config, Description& description) {
  Stack stack = read_post_norm(config, {"encoder", "transformer.layer"}, {768, 6, 12, 3072, 0, 0, 512});
  stack.epsilon = 1e-12f;
  read_bert_input(config, stack, 0, 0, 0);
  const auto after = after_of(stack.model.activation);
  read_encoder_heads(config, description, stack,
                     {.transform = {linear("vocab_transform", stack.model.model, after.value_or(After::nothing)),
                                    norm_of(stack, "vocab_layer_norm")},
                      .decoder = after ? "vocab_projector" : "",
                      .bias = "vocab_projector.bias",
                      .before = {Pool{Pooling::first}, linear("pre_classifier", stack.model.model, After::relu)}});
  description.outside = {"embeddings and their norm", "heads"};
  add_stack(description, std::move(stack), config);
}

void mpnet(Config& config, Description& description) {
  Stack stack = read_post_norm(config, {"encoder", "encoder.layer"}, bert_sizes);
  stack.model.mask.relative = true;
  read_bert_input(config, stack, 2, 0, 0);
  read_encoder_heads(config, description, stack, roberta_heads(stack));
  stack.relative_bias = {.tensor = "encoder.relative_attention_bias.weight",
                         .buckets = {.count = config.size("", {"relative_attention_num_buckets"}, 32)}};
  description.outside = {"embeddings and their norm", "pooler and heads"};
  add_stack(description, std::move(stack), config);
}

// With token_dropout, the rows of masked tokens are 0. All rows have the scale that training had on average, where 80%
// of 15% of the tokens were masked.
void read_esm_input(Config& config, Stack& stack, bool has_positions) {
  const bool drops = config.flag("", {"token_dropout"}, false);
  read_tokens(config, stack, "embeddings.word_embeddings", drops ? 0.88f : 1.0f);
  if (drops && config.has("mask_token_id"))
    stack.input.steps.push_back(DropToken{config.size("", {"mask_token_id"}, 0)});
  if (has_positions) add_offset_positions(config, stack, config.size("", {"pad_token_id"}, 1) + 1);
  if (config.flag("", {"emb_layer_norm_before"}, false))
    stack.input.steps.push_back(norm_of(stack, "embeddings.layer_norm"));
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
  read_esm_input(config, stack, kind == "absolute");
  read_encoder_heads(config, description, stack, roberta_heads(stack));
  // A table of its own has no bias, so a step lacks lm_head.bias.
  if (is_class(config, {"ForMaskedLM"}) && !description.tied_embeddings) stack.head.clear();
  if (config.flag("", {"is_folding_model"}, false)) config.refuse("is_folding_model", "Ladon lacks the folding trunk");
  description.outside = {"embeddings, and the scale of token_dropout", "pooler and heads"};
  add_stack(description, std::move(stack), config);
}

void read_modernbert_heads(Config& config, Description& description, Stack& stack) {
  if (config.text("", {"classifier_activation"}, "gelu") != "gelu") return;  // no head
  const std::vector<Step> transform{
      linear("head.dense", stack.model.model, After::gelu, bias_if(config.flag("", {"classifier_bias"}, false))),
      norm_of(stack, "head.norm")};
  std::vector<Step> before{
      Pool{config.text("", {"classifier_pooling"}, "cls") == "mean" ? Pooling::mean : Pooling::first}};
  before.insert(before.end(), transform.begin(), transform.end());
  read_encoder_heads(config, description, stack,
                     {.transform = transform,
                      .decoder = "decoder",
                      .bias = config.flag("", {"decoder_bias"}, true) ? "decoder.bias" : "",
                      .before = before,
                      .before_tokens = transform});
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
  read_tokens(config, stack, "embeddings.tok_embeddings");
  stack.input.steps.push_back(norm_of(stack, "embeddings.norm"));
  read_modernbert_heads(config, description, stack);
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
  read_tokens(config, stack, "embeddings.word_embeddings");
  read_types(config, stack, "embeddings.token_type_embeddings", "type_vocab_size", 2);
  stack.input.steps.push_back(norm_of(stack, "emb_ln"));
  read_encoder_heads(config, description, stack, bert_heads(stack, "layer_norm"));
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
  read_tokens(config, stack, "embeddings.word_embeddings");
  read_types(config, stack, "embeddings.token_type_embeddings", "type_vocab_size", 1);
  stack.input.steps.push_back(norm_of(stack, "embeddings.LayerNorm"));
  read_encoder_heads(
      config, description, stack,
      {.pooler = "pooler.dense",
       .transform = {linear("lm_head.dense", stack.model.model, After::gelu), norm_of(stack, "lm_head.norm")},
       .decoder = "lm_head.decoder",
       .bias = "lm_head.decoder.bias"});
  description.outside = {"embeddings and their norm", "pooler and heads"};
  add_stack(description, std::move(stack), config);
}

// The classifier of texts takes one row, or the mean of its results for all tokens ("late").
void read_eurobert_heads(Config& config, Description& description, Stack& stack) {
  const std::string pooling = config.text("", {"classifier_pooling"}, "late");
  const LinearRows dense = linear("dense", stack.model.model, After::gelu);
  read_encoder_heads(config, description, stack,
                     {.decoder = "lm_head",
                      .bias = stack.model.bias == Bias::with ? "lm_head.bias" : "",
                      .before = {Pool{pooling == "bos" ? Pooling::first : Pooling::mean}, dense},
                      .tied = false});
  if (pooling == "late" && is_class(config, {"ForSequenceClassification"}))
    stack.head = {dense, stack.head.back(), Pool{Pooling::mean}};
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
  read_tokens(config, stack, "embed_tokens");
  read_eurobert_heads(config, description, stack);
  description.outside = {"embeddings", "heads"};
  add_stack(description, std::move(stack), config);
}

void deberta(Config& config, Description&) {
  config.refuse("relative_attention", "Ladon lacks DeBERTa's products of queries and keys with relative positions");
}

constexpr Family bert_like_families[] = {
    {"albert", albert, "albert"},
    {"bert", bert, "bert"},
    {"camembert", roberta, "roberta"},
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
    {"roberta", roberta, "roberta"},
    {"xlm-roberta", roberta, "roberta"},
};

}  // namespace

std::span<const Family> bert_like() { return bert_like_families; }

}  // namespace ladon::families
