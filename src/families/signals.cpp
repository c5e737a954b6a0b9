// SPDX-License-Identifier: Apache-2.0
// Encoders of speech, and models of time series.
#include <algorithm>
#include <utility>

#include "families.hpp"

namespace ladon::families {
namespace {

// Reads a list of sizes.
std::vector<std::size_t> read_list(const Config& config, const char* key, std::vector<std::size_t> otherwise) {
  const nlohmann::json* list = config.find(key);
  if (list == nullptr) return otherwise;
  const auto is_size = [](auto& size) { return size.is_number_unsigned() && size > 0 && size <= 1u << 20; };
  if (!list->is_array() || list->empty() || list->size() > 64 || !std::all_of(list->begin(), list->end(), is_size))
    config.fail(key, "a list of 1 to 64 whole numbers from 1 to 2^20");
  return list->get<std::vector<std::size_t>>();
}

// Adds the convolutions. With feat_extract_norm "group", a norm of each channel follows only the first.
void add_convolutions(Config& config, std::vector<Step>& steps) {
  const auto outputs = read_list(config, "conv_dim", {512, 512, 512, 512, 512, 512, 512});
  const auto widths = read_list(config, "conv_kernel", {10, 3, 3, 3, 3, 2, 2});
  const auto strides = read_list(config, "conv_stride", {5, 2, 2, 2, 2, 2, 2});
  for (const auto& [key, list] : {std::pair{"conv_kernel", &widths}, std::pair{"conv_stride", &strides}})
    if (list->size() != outputs.size()) config.fail(key, "a number for each of conv_dim");
  const std::string norm = config.text("", {"feat_extract_norm"}, "group");
  if (norm != "group" && norm != "layer") config.fail("feat_extract_norm", "\"group\" or \"layer\"");
  const After after = after_of(config, "feat_extract_activation", "gelu");
  const Bias bias = bias_if(config.flag("", {"conv_bias"}, false));
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    const std::string name = "feature_extractor.conv_layers." + std::to_string(i);
    const bool normed = norm == "layer" || i == 0;
    steps.emplace_back(ConvolveRows{.name = name + ".conv",
                                    .outputs = outputs[i],
                                    .width = widths[i],
                                    .stride = strides[i],
                                    .bias = bias,
                                    .after = normed ? After::nothing : after});
    if (norm == "layer")
      steps.insert(steps.end(), {NormRows{.name = name + ".layer_norm"}, Apply{after}});
    else if (normed)
      steps.emplace_back(GroupNormRows{.name = name + ".layer_norm", .groups = outputs[0], .after = after});
  }
}

// Returns the convolution whose result the model adds to the rows instead of positions.
ConvolveRows read_position_convolution(Config& config, const Stack& stack) {
  const std::size_t width = config.size("", {"num_conv_pos_embeddings"}, 128);
  const std::size_t groups = config.size("", {"num_conv_pos_embedding_groups"}, 16);
  if (width == 0) config.fail("num_conv_pos_embeddings", "at least 1");
  if (groups == 0 || stack.model.model % groups != 0)
    config.fail("num_conv_pos_embedding_groups", "a divisor of the model's width");
  return {.name = "encoder.pos_conv_embed.conv",
          .outputs = stack.model.model,
          .width = width,
          .before = width / 2,
          .behind = (width - 1) / 2,
          .groups = groups,
          .after = after_of(config, "feat_extract_activation", "gelu"),
          .residual = true,
          .weight_norm = true};
}

Input read_speech(Config& config, const Stack& stack, bool stable) {
  if (config.flag("", {"conv_pos_batch_norm"}, false))
    return {.name = "input_values", .missing = "the batch norm before pos_conv_embed (conv_pos_batch_norm)"};
  if (config.flag("", {"add_adapter"}, false))
    return {.name = "input_values", .missing = "the convolutions behind the layers (add_adapter)"};
  std::vector<Step> steps{Frames{}};
  add_convolutions(config, steps);
  if (config.flag("", {"feat_proj_layer_norm"}, true))
    steps.emplace_back(NormRows{.name = "feature_projection.layer_norm", .epsilon = stack.epsilon});
  steps.emplace_back(LinearRows{"feature_projection.projection", stack.model.model});
  steps.emplace_back(read_position_convolution(config, stack));
  if (!stable) steps.emplace_back(NormRows{.name = "encoder.layer_norm", .epsilon = stack.epsilon});
  return {.name = "input_values", .steps = std::move(steps)};
}

// With do_stable_layer_norm, norms stand before the sublayers and encoder.layer_norm behind the layers. Otherwise,
// encoder.layer_norm stands before the layers.
void wav2vec2(Config& config, Description& description) {
  const bool stable = config.flag("norm", {"do_stable_layer_norm"}, false);
  Stack stack = read_stack(config, {"encoder", "encoder.layers", stable ? "encoder.layer_norm" : ""}, {});
  if (!stable) stack.model.norm = NormOrder::post;
  read_activation(config, stack, "gelu");
  read_epsilon(config, stack, 1e-5);
  description.outside = {"convolutions, feature_projection and pos_conv_embed"};
  if (!stable) description.outside.push_back("encoder.layer_norm before the layers");
  if (config.has("adapter_attn_dim"))
    config.refuse("adapter_attn_dim", "Ladon lacks layers with a third sublayer, an adapter");
  stack.input = read_speech(config, stack, stable);
  const std::string name = class_of(config);
  if (name.ends_with("ForCTC")) stack.head = {LinearRows{"lm_head", config.size("", {"vocab_size"}, 32)}};
  if (name.ends_with("ForSequenceClassification") && !config.flag("", {"use_weighted_layer_sum"}, false))
    stack.head = {LinearRows{"projector", config.size("", {"classifier_proj_size"}, 256)}, Pool{},
                  LinearRows{"classifier", labels(config)}};
  add_stack(description, std::move(stack), config);
  set_frames(config, description.stacks.back());
}

void wavlm(Config& config, Description&) {
  config.refuse("model_type", "Ladon lacks a bias of the scores that depends on the input of each layer");
}

// The model computes each channel of a series alone.
Input read_series(Config& config, const Stack& stack, const TimeSeriesPatches& patches, bool has_class_token) {
  Input input{.name = "past_values"};
  const nlohmann::json* scaling = config.find("scaling");
  if (scaling != nullptr && (*scaling == "mean" || *scaling == true))
    input.missing = "a scale by the mean of the magnitudes (scaling)";
  if (!config.flag("", {"share_embedding"}, true))
    input.missing = "a projection of its own for each channel (share_embedding)";
  if (!input.missing.empty()) return input;
  input.steps = {patches, LinearRows{"encoder.embedder.input_embedding", stack.model.model}};
  if (has_class_token) input.steps.emplace_back(Prepend{{{"encoder.positional_encoder.cls_token"}}});
  input.steps.emplace_back(AddPositions{"encoder.positional_encoder.position_enc", stack.positions});
  return input;
}

void patchtst(Config& config, Description& description) {
  Stack stack = read_stack(config, {"encoder", "encoder.layers"}, {128, 3, 4, 512});
  Model& model = stack.model;
  if (config.text("norm_kind", {"norm_type"}, "batchnorm") != "layernorm")
    config.refuse("norm_type", "Ladon has no batch norm");
  if (config.flag("", {"channel_attention"}, false))
    config.refuse("channel_attention", "Ladon lacks layers with attention between channels");
  if (!config.flag("norm", {"pre_norm"}, true)) model.norm = NormOrder::post;
  model.bias = bias_if(config.flag("bias", {"bias"}, true));
  read_activation(config, stack, "gelu", {"activation_function"});
  read_epsilon(config, stack, 1e-5);
  const bool has_class_token = config.flag("", {"use_cls_token"}, false);
  const nlohmann::json* scaling = config.find("scaling");
  const TimeSeriesPatches patches{.length = config.size("", {"context_length"}, 32),
                                  .patch = config.size("", {"patch_length"}, 1),
                                  .stride = config.size("", {"patch_stride"}, 1),
                                  .scaled = scaling == nullptr ? !config.is_null("scaling") : *scaling == "std"};
  if (patches.stride == 0 || patches.patch == 0 || patches.length < patches.patch)
    config.fail("patch_stride", "at least 1, and patches that fit context_length");
  stack.positions = (patches.length - patches.patch) / patches.stride + 1 + (has_class_token ? 1 : 0);
  stack.input = read_series(config, stack, patches, has_class_token);
  description.outside = {"scaling and patches of each channel, and positions", "head"};
  add_stack(description, std::move(stack), config);
}

// The caller gives no numbers for the patches of a padded series that lack all numbers: no token attends to them.
// Positions also begin with the first other patch.
Input read_masked_series(Config& config, const Stack& stack, std::size_t patch) {
  Input input{.name = "past_values"};
  input.steps = {Frames{}, MaskedPatches{patch, static_cast<float>(config.number("", {"tolerance"}, 1e-6))},
                 ResidualBlock{"input_ff_layer", stack.model.feed_forward, stack.model.model}};
  if (config.flag("", {"use_positional_embedding"}, false)) {
    if (config.size("", {"min_timescale"}, 1) != 1 || config.size("", {"max_timescale"}, 10000) != 10000)
      return {.name = input.name, .missing = "sinusoids of other angles (min_timescale, max_timescale)"};
    input.steps.emplace_back(AddPositions{.rows = stack.positions, .closed = true});
  }
  input.steps.emplace_back(AddRow{"freq_emb.weight", config.size("", {"freq_size"}, 3)});  // of the frequency 0
  return input;
}

// An RMSNorm before attention, and a LayerNorm before the feed-forward network. Learned factors multiply the queries,
// so the score has no scale.
void timesfm(Config& config, Description& description) {
  Stack stack = read_stack(config, {"decoder", "layers"}, {1280, 50, 16, 1280, 0, 80});
  Model& model = stack.model;
  model.norm_kind = NormKind::rms;
  model.feed_forward_norm_kind = NormKind::layer;
  model.activation = Activation::relu;
  model.score.scale = 1;
  read_epsilon(config, stack, 1e-6);
  if (stack.epsilon != 1e-6f)
    config.refuse("rms_norm_eps", "Ladon has one epsilon for all norms, and the LayerNorms have 1e-6");
  const std::size_t length = config.size("", {"context_length"}, 512), patch = config.size("", {"patch_length"}, 32);
  if (patch == 0 || length < patch) config.fail("patch_length", "at least 1, and at most context_length");
  stack.positions = length / patch;
  stack.input = read_masked_series(config, stack, patch);
  description.outside = {"patches, their residual block, and freq_emb", "horizon_ff_layer"};
  add_stack(description, std::move(stack), config);
  set_frames(config, description.stacks.back());
}

constexpr Family signals_families[] = {
    {"hubert", wav2vec2, "hubert"},     {"patchtst", patchtst}, {"timesfm", timesfm, "decoder"},
    {"wav2vec2", wav2vec2, "wav2vec2"}, {"wavlm", wavlm},
};

}  // namespace

std::span<const Family> signals() { return signals_families; }

}  // namespace ladon::families
