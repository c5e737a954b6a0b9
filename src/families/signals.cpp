// SPDX-License-Identifier: Apache-2.0
// Encoders of speech, and models of time series.
#include <algorithm>
#include <utility>

#include "families.hpp"

namespace ladon::families {
namespace {

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
  add_stack(description, std::move(stack), config);
}

void wavlm(Config& config, Description&) {
  config.refuse("model_type", "Ladon lacks a bias of the scores that depends on the input of each layer");
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
  const std::size_t length = config.size("", {"patch_length"}, 1), stride = config.size("", {"patch_stride"}, 1);
  const std::size_t context = config.size("", {"context_length"}, 32);
  if (stride == 0 || context < length) config.fail("patch_stride", "at least 1, and patches that fit context_length");
  stack.positions = (context - length) / stride + 1 + (config.flag("", {"use_cls_token"}, false) ? 1 : 0);
  description.outside = {"scaling and patches of each channel, and positions", "head"};
  add_stack(description, std::move(stack), config);
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
  stack.positions =
      config.size("", {"context_length"}, 512) / std::max<std::size_t>(1, config.size("", {"patch_length"}, 32));
  description.outside = {"patches, their residual block, and freq_emb", "horizon_ff_layer"};
  add_stack(description, std::move(stack), config);
}

constexpr Family signals_families[] = {
    {"hubert", wav2vec2, "hubert"},     {"patchtst", patchtst}, {"timesfm", timesfm, "decoder"},
    {"wav2vec2", wav2vec2, "wav2vec2"}, {"wavlm", wavlm},
};

}  // namespace

std::span<const Family> signals() { return signals_families; }

}  // namespace ladon::families
