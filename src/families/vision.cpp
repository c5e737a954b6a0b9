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
// Returns the step from an image to its patches, without the step's name.
Patches read_patches(Config& config, std::size_t image, std::size_t patch) {
  const Extent size = read_extent(config, "image_size", image), of_patch = read_extent(config, "patch_size", patch);
  if (of_patch.rows == 0 || of_patch.columns == 0) config.fail("patch_size", "at least 1");
  constexpr std::size_t most = 1u << 16;
  if (size.rows > most || size.columns > most) config.fail("image_size", "at most 65536");
  if (of_patch.rows > size.rows || of_patch.columns > size.columns) config.fail("patch_size", "at most image_size");
  return {.channels = config.size("", {"num_channels"}, 3),
          .rows = size.rows,
          .columns = size.columns,
          .patch_rows = of_patch.rows,
          .patch_columns = of_patch.columns,
          .stride_rows = of_patch.rows,
          .stride_columns = of_patch.columns};
}
// Returns the numbers of patches in a frame.
Extent count(const Patches& patches) {
  return {(patches.rows - patches.patch_rows) / patches.stride_rows + 1,
          (patches.columns - patches.patch_columns) / patches.stride_columns + 1};
}

Stack read_image(Config& config, Description& description, const Names& names, const Sizes& sizes, double epsilon,
                 const char* activation = "gelu") {
  Stack stack = read_stack(config, names, sizes);
  read_activation(config, stack, activation);
  read_epsilon(config, stack, epsilon);
  description.outside = {"embeddings of patches", "pooler and heads"};
  return stack;
}

// Sets the steps from an image to the first layer: patches, the rows of `tokens` before them, and a table `positions`
// for all of them, if it has a name.
void set_image(Stack& stack, const char* name, Patches patches, const std::vector<Prepend::Rows>& tokens,
               const std::string& positions) {
  patches.name = name;
  patches.outputs = stack.model.model;
  const Extent extent = count(patches);
  stack.positions = patches.frames / patches.patch_frames * extent.rows * extent.columns;
  for (const Prepend::Rows& token : tokens) stack.positions += token.rows;
  stack.input = {"pixel_values", {patches}};
  if (!tokens.empty()) stack.input.steps.emplace_back(Prepend{tokens});
  if (!positions.empty()) stack.input.steps.emplace_back(AddPositions{positions, stack.positions});
}

bool classifies(const Config& config) { return class_of(config).ends_with("Classification"); }
LinearRows classifier(Config& config) { return {"classifier", labels(config)}; }

constexpr const char* projection = "embeddings.patch_embeddings.projection";
const Prepend::Rows class_token{"embeddings.cls_token"}, distillation_token{"embeddings.distillation_token"};

// Only models without another head have the pooler. A student's class has a classifier for each of its two tokens.
void read_vit(Config& config, Description& description, const std::vector<Prepend::Rows>& tokens) {
  Stack stack = read_image(config, description, {"encoder", "encoder.layer", "layernorm"}, {}, 1e-12);
  stack.model.projection_bias = bias_if(config.flag("projection_bias", {"qkv_bias"}, true));
  set_image(stack, projection, read_patches(config, 224, 16), tokens, "embeddings.position_embeddings");
  if (classifies(config)) {
    stack.head = {Pool{Pooling::first}, classifier(config)};
  } else if (class_of(config) == "DeiTForImageClassificationWithTeacher") {
    stack.head = {LinearPair{"cls_classifier", "distillation_classifier", labels(config)}};
  } else if (class_of(config).find("For") == std::string::npos) {
    const std::size_t outputs = config.size("", {"pooler_output_size"}, stack.model.model);
    const After after = after_of(config, "pooler_act", "tanh");
    stack.pooler = {Pool{Pooling::first}, LinearRows{"pooler.dense", outputs, Bias::with, after}};
  }
  add_stack(description, std::move(stack), config);
}
void vit(Config& config, Description& description) { read_vit(config, description, {class_token}); }
void deit(Config& config, Description& description) {
  read_vit(config, description, {class_token, distillation_token});
}

// The image is a spectrogram, whose patches overlap.
void ast(Config& config, Description& description) {
  Stack stack = read_image(config, description, {"encoder", "encoder.layer", "layernorm"}, {}, 1e-12);
  stack.model.projection_bias = bias_if(config.flag("projection_bias", {"qkv_bias"}, true));
  const Extent patch = read_extent(config, "patch_size", 16);
  Patches patches{.channels = 1,
                  .rows = config.size("", {"num_mel_bins"}, 128),
                  .columns = config.size("", {"max_length"}, 1024),
                  .patch_rows = patch.rows,
                  .patch_columns = patch.columns,
                  .stride_rows = config.size("", {"frequency_stride"}, 10),
                  .stride_columns = config.size("", {"time_stride"}, 10),
                  .transposed = true};
  if (patches.stride_rows == 0) config.fail("frequency_stride", "at least 1");
  if (patches.stride_columns == 0) config.fail("time_stride", "at least 1");
  if (patch.rows == 0 || patch.columns == 0 || patches.rows < patch.rows || patches.columns < patch.columns)
    config.fail("patch_size", "patches that fit the spectrogram");
  set_image(stack, projection, patches, {class_token, distillation_token}, "embeddings.position_embeddings");
  stack.input.name = "input_values";
  stack.pooler = {Pool{.tokens = 2}};
  if (classifies(config))
    stack.head = {NormRows{.name = "classifier.layernorm", .epsilon = stack.epsilon},
                  LinearRows{"classifier.dense", labels(config)}};
  add_stack(description, std::move(stack), config);
}

// Register tokens stand between the class token and the patches, and have no positions.
void read_dinov2(Config& config, Description& description, std::size_t registers) {
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
  set_image(stack, projection, read_patches(config, 224, 14), {class_token}, "embeddings.position_embeddings");
  if (registers > 0) stack.input.steps.emplace_back(Prepend{{{"embeddings.register_tokens", registers}}, 1});
  stack.positions += registers;
  if (classifies(config))
    stack.head = {Pool{.from = 1 + registers, .behind_first = true}, classifier(config)};
  else
    stack.pooler = {Pool{Pooling::first}};
  add_stack(description, std::move(stack), config);
}
void dinov2(Config& config, Description& description) { read_dinov2(config, description, 0); }
void dinov2_with_registers(Config& config, Description& description) {
  read_dinov2(config, description, config.size("", {"num_register_tokens"}, 4));
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
  const Patches patches = read_patches(config, 224, 16);
  const std::size_t registers = config.size("", {"num_register_tokens"}, 0);
  std::vector<Prepend::Rows> tokens{class_token};
  if (registers > 0) tokens.push_back({"embeddings.register_tokens", registers});
  set_image(stack, "embeddings.patch_embeddings", patches, tokens, "");
  stack.pooler = {Pool{Pooling::first}};
  model.position = {.pairing = Pairing::halves, .width = model.model / model.heads};
  if (model.position.width % 4 != 0) config.fail("num_attention_heads", "heads whose width is a multiple of 4");
  stack.rotary = {{.scaling = {.base = config.number("", {"rope_theta"}, 100)},
                   .prefix = 1 + registers,
                   .rows = count(patches).rows,
                   .columns = count(patches).columns}};
  add_stack(description, std::move(stack), config);
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
  const bool has_positions = config.flag("", {"use_absolute_position_embeddings"}, false);
  set_image(stack, projection, read_patches(config, 224, 16), {class_token},
            has_positions ? "embeddings.position_embeddings" : "");
  if (classifies(config)) stack.head = {classifier(config)};
  if (!pools)
    stack.pooler = {Pool{Pooling::first}};
  else
    stack.pooler = {Pool{.from = 1}, NormRows{.name = "pooler.layernorm", .epsilon = stack.epsilon}};
  add_stack(description, std::move(stack), config);
}

void videomae(Config& config, Description& description) {
  const bool pools = config.flag("", {"use_mean_pooling"}, true);
  Stack stack = read_image(config, description, {"encoder", "encoder.layer", pools ? "" : "layernorm"}, {}, 1e-12);
  stack.model.projection_bias = bias_if(config.flag("projection_bias", {"qkv_bias", "qv_bias"}, true));
  Patches patches = read_patches(config, 224, 16);
  patches.frames = config.size("", {"num_frames"}, 16);
  patches.patch_frames = config.size("", {"tubelet_size"}, 2);
  if (patches.patch_frames == 0 || patches.patch_frames > patches.frames)
    config.fail("tubelet_size", "at least 1 and at most num_frames");
  set_image(stack, projection, patches, {}, "");
  stack.input.steps.emplace_back(AddPositions{.rows = stack.positions, .interleaved = true});
  if (classifies(config) && pools) stack.head = {Pool{}, NormRows{.name = "fc_norm"}, classifier(config)};
  if (classifies(config) && !pools) stack.head = {Pool{Pooling::first}, classifier(config)};
  add_stack(description, std::move(stack), config);
}

// Returns the step for the projection of a text or an image into the space of both.
LinearRows projection_of(Config& config, const char* name) {
  return {name, config.size("", {"projection_dim"}, 512), Bias::without};
}

// Sets the steps from token ids to the first layer.
void set_text(Config& config, Stack& stack, const std::string& prefix, std::size_t vocabulary) {
  stack.input = {"input_ids",
                 {Lookup{prefix + "embeddings.token_embedding.weight", config.size("", {"vocab_size"}, vocabulary),
                         stack.model.model},
                  AddPositions{prefix + "embeddings.position_embedding.weight", stack.positions}}};
}

// The pooled token is the first end of text, which is the last token of a text without padding.
void clip_text_at(Config& config, Description& description, const std::string& prefix) {
  Stack stack = read_image(config, description, {"text", prefix + "encoder.layers", prefix + "final_layer_norm"},
                           {512, 12, 8, 2048, 0, 0, 77}, 1e-5, "quick_gelu");
  stack.model.mask.causal = true;
  description.outside = {"embeddings", "projection of the last token"};
  set_text(config, stack, prefix, 49408);
  stack.pooler = {Pool{Pooling::last}};
  if (class_of(config) == "CLIPTextModelWithProjection") stack.head = {projection_of(config, "text_projection")};
  add_stack(description, std::move(stack), config);
}
void clip_text(Config& config, Description& description) { clip_text_at(config, description, ""); }

// The norm behind the layers, post_layernorm, is only for the pooled output. pre_layrnorm stands before the layers.
void clip_vision_at(Config& config, Description& description, const std::string& prefix) {
  Stack stack =
      read_image(config, description, {"vision", prefix + "encoder.layers"}, {768, 12, 12, 3072}, 1e-5, "quick_gelu");
  description.outside = {"embeddings of patches and pre_layrnorm", "post_layernorm of the class token, and projection"};
  Patches patches = read_patches(config, 224, 32);
  patches.bias = Bias::without;
  set_image(stack, (prefix + "embeddings.patch_embedding").c_str(), patches, {{prefix + "embeddings.class_embedding"}},
            prefix + "embeddings.position_embedding.weight");
  stack.input.steps.emplace_back(NormRows{.name = prefix + "pre_layrnorm", .epsilon = stack.epsilon});
  stack.pooler = {Pool{Pooling::first}, NormRows{.name = prefix + "post_layernorm", .epsilon = stack.epsilon}};
  if (class_of(config) == "CLIPVisionModelWithProjection") stack.head = {projection_of(config, "visual_projection")};
  add_stack(description, std::move(stack), config);
}
void clip_vision(Config& config, Description& description) { clip_vision_at(config, description, ""); }

void siglip_text_at(Config& config, Description& description, const std::string& prefix) {
  Stack stack = read_image(config, description, {"text", prefix + "encoder.layers", prefix + "final_layer_norm"},
                           {768, 12, 12, 3072, 0, 0, 64}, 1e-6, "gelu_pytorch_tanh");
  description.outside = {"embeddings", "head of the last token"};
  set_text(config, stack, prefix, 32000);
  const std::size_t outputs = config.size("", {"projection_size"}, stack.model.model);
  stack.pooler = {Pool{Pooling::last}, LinearRows{prefix + "head", outputs}};
  add_stack(description, std::move(stack), config);
}
void siglip_text(Config& config, Description& description) { siglip_text_at(config, description, ""); }

void siglip_vision_at(Config& config, Description& description, const std::string& prefix) {
  Stack stack = read_image(config, description, {"vision", prefix + "encoder.layers", prefix + "post_layernorm"}, {},
                           1e-6, "gelu_pytorch_tanh");
  description.outside = {"embeddings of patches", "head: attention of a learned query"};
  set_image(stack, (prefix + "embeddings.patch_embedding").c_str(), read_patches(config, 224, 16), {},
            prefix + "embeddings.position_embedding.weight");
  if (config.flag("", {"vision_use_head"}, true))
    stack.pooler = {AttentionPool{prefix + "head", stack.model.heads, stack.model.feed_forward, stack.model.activation,
                                  stack.epsilon}};
  add_stack(description, std::move(stack), config);
}
void siglip_vision(Config& config, Description& description) { siglip_vision_at(config, description, ""); }

// Describes the two models of a pair. A classifier of images has only the model of images.
template <auto Text, auto Vision>
void both(Config& config, Description& description) {
  Config text = config.inner("text_config"), vision = config.inner("vision_config");
  if (!classifies(config)) Text(text, description, "text_model.");
  const auto outside = description.outside;
  Vision(vision, description, "vision_model.");
  description.outside.insert(description.outside.begin(), outside.begin(), outside.end());
}

void clip(Config& config, Description& description) {
  both<clip_text_at, clip_vision_at>(config, description);
  Stack& vision = description.stacks.back();
  if (classifies(config)) {
    vision.pooler.clear();
    vision.head = {Pool{.from = 1}, classifier(config)};
  } else {
    description.stacks[0].head = {projection_of(config, "text_projection"), UnitLength{}};
    vision.head = {projection_of(config, "visual_projection"), UnitLength{}};
  }
}

void siglip(Config& config, Description& description) {
  both<siglip_text_at, siglip_vision_at>(config, description);
  Stack& vision = description.stacks.back();
  if (classifies(config)) {
    vision.pooler.clear();
    vision.head = {Pool{}, classifier(config)};
  } else {
    description.stacks[0].head = {UnitLength{}};
    if (!vision.pooler.empty()) vision.head = {UnitLength{}};
  }
}

constexpr Family vision_families[] = {
    {"audio-spectrogram-transformer", ast, "audio_spectrogram_transformer"},
    {"beit", beit, "beit"},
    {"clip", clip, ""},
    {"clip_text_model", clip_text, ""},
    {"clip_vision_model", clip_vision, ""},
    {"deit", deit, "deit"},
    {"dinov2", dinov2, "dinov2"},
    {"dinov2_with_registers", dinov2_with_registers, "dinov2_with_registers"},
    {"dinov3_vit", dinov3, "dinov3_vit"},
    {"siglip", siglip, ""},
    {"siglip_text_model", siglip_text, ""},
    {"siglip_vision_model", siglip_vision, ""},
    {"videomae", videomae, "videomae"},
    {"vit", vit, "vit"},
};

}  // namespace

std::span<const Family> vision() { return vision_families; }

}  // namespace ladon::families
