// SPDX-License-Identifier: Apache-2.0
// Encoders of images, and models of texts and images.
#include <utility>

#include "families.hpp"

namespace ladon::families {
namespace {

struct Extent {
  std::size_t rows;
  std::size_t columns;
};
// Reads a key that is one number for both directions, or a list of two numbers.
Extent read_extent(Config& config, const char* key, std::size_t otherwise) {
  const nlohmann::json* list = config.find(key);
  if (list == nullptr || !list->is_array()) {
    const std::size_t size = config.size("", {key}, otherwise);
    return {size, size};
  }
  if (list->size() != 2 || !(*list)[0].is_number_unsigned() || !(*list)[1].is_number_unsigned())
    config.fail(key, "one or two numbers");
  return {(*list)[0].get<std::size_t>(), (*list)[1].get<std::size_t>()};
}
// Returns the numbers of patches of an image.
Extent read_patches(Config& config, std::size_t image, std::size_t patch) {
  const Extent size = read_extent(config, "image_size", image), of_patch = read_extent(config, "patch_size", patch);
  if (of_patch.rows == 0 || of_patch.columns == 0) config.fail("patch_size", "at least 1");
  return {size.rows / of_patch.rows, size.columns / of_patch.columns};
}

Stack read_image(Config& config, Description& description, const Names& names, const Sizes& sizes, double epsilon,
                 const char* activation = "gelu") {
  Stack stack = read_stack(config, names, sizes);
  read_activation(config, stack, activation);
  read_epsilon(config, stack, epsilon);
  description.outside = {"embeddings of patches", "pooler and heads"};
  return stack;
}

void add_image(Config& config, Description& description, Stack stack, const Extent& patches, std::size_t others) {
  stack.positions = patches.rows * patches.columns + others;
  add_stack(description, std::move(stack), config);
}

void read_vit(Config& config, Description& description, std::size_t others) {
  Stack stack = read_image(config, description, {"encoder", "encoder.layer", "layernorm"}, {}, 1e-12);
  stack.model.projection_bias = bias_if(config.flag("projection_bias", {"qkv_bias"}, true));
  add_image(config, description, std::move(stack), read_patches(config, 224, 16), others);
}
void vit(Config& config, Description& description) { read_vit(config, description, 1); }
void deit(Config& config, Description& description) { read_vit(config, description, 2); }

// The image is a spectrogram, whose patches overlap.
void ast(Config& config, Description& description) {
  Stack stack = read_image(config, description, {"encoder", "encoder.layer", "layernorm"}, {}, 1e-12);
  stack.model.projection_bias = bias_if(config.flag("projection_bias", {"qkv_bias"}, true));
  const Extent patch = read_extent(config, "patch_size", 16);
  const auto count = [&](std::size_t length, std::size_t size, const char* stride_key) {
    const std::size_t stride = config.size("", {stride_key}, 10);
    if (stride == 0 || length < size) config.fail(stride_key, "at least 1, and patches that fit the spectrogram");
    return (length - size) / stride + 1;
  };
  const Extent patches{count(config.size("", {"num_mel_bins"}, 128), patch.rows, "frequency_stride"),
                       count(config.size("", {"max_length"}, 1024), patch.columns, "time_stride")};
  add_image(config, description, std::move(stack), patches, 2);
}

void dinov2(Config& config, Description& description) {
  Stack stack = read_image(config, description, {"encoder", "encoder.layer", "layernorm"}, {}, 1e-6);
  Model& model = stack.model;
  model.layer_scale = true;
  model.projection_bias = bias_if(config.flag("projection_bias", {"qkv_bias"}, true));
  model.feed_forward = config.scaled(model.model, "mlp_ratio", 4);
  config.note("feed_forward", "mlp_ratio");
  if (config.flag("gated", {"use_swiglu_ffn"}, false)) {
    model.gated = true;
    model.activation = Activation::silu;
    model.feed_forward = (model.feed_forward * 2 / 3 + 7) / 8 * 8;
  }
  add_image(config, description, std::move(stack), read_patches(config, 224, 14), 1);
}

// Each patch is rotated by its row and its column.
void dinov3(Config& config, Description& description) {
  Stack stack = read_image(config, description, {"encoder", "layer", "norm"}, {384, 12, 6, 1536}, 1e-5);
  Model& model = stack.model;
  model.layer_scale = true;
  model.gated = config.flag("gated", {"use_gated_mlp"}, false);
  model.bias = bias_if(config.flag("bias", {"mlp_bias"}, true));
  model.output_bias = bias_if(config.flag("output_bias", {"proj_bias"}, true));
  const bool any = config.flag("", {"key_bias"}, false) || config.flag("", {"value_bias"}, true);
  model.projection_bias = bias_if(config.flag("projection_bias", {"query_bias"}, true) || any);
  const Extent patches = read_patches(config, 224, 16);
  const std::size_t others = 1 + config.size("", {"num_register_tokens"}, 0);
  model.position = {.pairing = Pairing::halves, .width = model.model / model.heads};
  if (model.position.width % 4 != 0) config.fail("num_attention_heads", "heads whose width is a multiple of 4");
  stack.rotary = {{.scaling = {.base = config.number("", {"rope_theta"}, 100)},
                   .prefix = others,
                   .rows = patches.rows,
                   .columns = patches.columns}};
  add_image(config, description, std::move(stack), patches, others);
}

void beit(Config& config, Description& description) {
  const bool pools = config.flag("", {"use_mean_pooling"}, true);
  Stack stack = read_image(config, description, {"encoder", "encoder.layer", pools ? "" : "layernorm"}, {}, 1e-12);
  stack.model.layer_scale = config.number("layer_scale", {"layer_scale_init_value"}, 0.1) > 0;
  stack.model.layer_bias = config.flag("layer_bias", {"use_relative_position_bias"}, false);
  if (config.flag("mask.additive_per_head", {"use_shared_relative_position_bias"}, false)) {
    stack.model.mask.additive_per_head = true;
    description.outside.push_back("the bias of relative positions of all layers");
  }
  add_image(config, description, std::move(stack), read_patches(config, 224, 16), 1);
}

void videomae(Config& config, Description& description) {
  const bool pools = config.flag("", {"use_mean_pooling"}, true);
  Stack stack = read_image(config, description, {"encoder", "encoder.layer", pools ? "" : "layernorm"}, {}, 1e-12);
  stack.model.projection_bias = bias_if(config.flag("projection_bias", {"qkv_bias", "qv_bias"}, true));
  Extent patches = read_patches(config, 224, 16);
  const std::size_t tube = config.size("", {"tubelet_size"}, 2);
  if (tube == 0) config.fail("tubelet_size", "at least 1");
  patches.rows *= config.size("", {"num_frames"}, 16) / tube;
  add_image(config, description, std::move(stack), patches, 0);
}

void clip_text_at(Config& config, Description& description, const std::string& prefix) {
  Stack stack = read_image(config, description, {"text", prefix + "encoder.layers", prefix + "final_layer_norm"},
                           {512, 12, 8, 2048, 0, 0, 77}, 1e-5, "quick_gelu");
  stack.model.mask.causal = true;
  description.outside = {"embeddings", "projection of the last token"};
  add_stack(description, std::move(stack), config);
}
void clip_text(Config& config, Description& description) { clip_text_at(config, description, ""); }

// The norm behind the layers, post_layernorm, is only for the pooled output. pre_layrnorm stands before the layers.
void clip_vision_at(Config& config, Description& description, const std::string& prefix) {
  Stack stack =
      read_image(config, description, {"vision", prefix + "encoder.layers"}, {768, 12, 12, 3072}, 1e-5, "quick_gelu");
  description.outside = {"embeddings of patches and pre_layrnorm", "post_layernorm of the class token, and projection"};
  add_image(config, description, std::move(stack), read_patches(config, 224, 32), 1);
}
void clip_vision(Config& config, Description& description) { clip_vision_at(config, description, ""); }

void siglip_text_at(Config& config, Description& description, const std::string& prefix) {
  Stack stack = read_image(config, description, {"text", prefix + "encoder.layers", prefix + "final_layer_norm"},
                           {768, 12, 12, 3072, 0, 0, 64}, 1e-6, "gelu_pytorch_tanh");
  description.outside = {"embeddings", "head of the last token"};
  add_stack(description, std::move(stack), config);
}
void siglip_text(Config& config, Description& description) { siglip_text_at(config, description, ""); }

void siglip_vision_at(Config& config, Description& description, const std::string& prefix) {
  Stack stack = read_image(config, description, {"vision", prefix + "encoder.layers", prefix + "post_layernorm"}, {},
                           1e-6, "gelu_pytorch_tanh");
  description.outside = {"embeddings of patches", "head: attention of a learned query"};
  add_image(config, description, std::move(stack), read_patches(config, 224, 16), 0);
}
void siglip_vision(Config& config, Description& description) { siglip_vision_at(config, description, ""); }

// Describes the two models of a pair.
template <auto Text, auto Vision>
void both(Config& config, Description& description) {
  Config text = config.inner("text_config"), vision = config.inner("vision_config");
  Text(text, description, "text_model.");
  const auto outside = description.outside;
  Vision(vision, description, "vision_model.");
  description.outside.insert(description.outside.begin(), outside.begin(), outside.end());
}

constexpr Family vision_families[] = {
    {"audio-spectrogram-transformer", ast, "audio_spectrogram_transformer"},
    {"beit", beit, "beit"},
    {"clip", both<clip_text_at, clip_vision_at>, ""},
    {"clip_text_model", clip_text, ""},
    {"clip_vision_model", clip_vision, ""},
    {"deit", deit, "deit"},
    {"dinov2", dinov2, "dinov2"},
    {"dinov3_vit", dinov3, "dinov3_vit"},
    {"siglip", both<siglip_text_at, siglip_vision_at>, ""},
    {"siglip_text_model", siglip_text, ""},
    {"siglip_vision_model", siglip_vision, ""},
    {"videomae", videomae, "videomae"},
    {"vit", vit, "vit"},
};

}  // namespace

std::span<const Family> vision() { return vision_families; }

}  // namespace ladon::families
