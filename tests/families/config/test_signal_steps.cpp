// SPDX-License-Identifier: Apache-2.0
// Tests the steps outside the layers of models of images, sound and series, and of encoders with a decoder.
#include <iterator>
#include <sstream>

#include "describing.hpp"
#include "step_members.hpp"

namespace ladon::families {
namespace {

std::string shown(const std::vector<Prepend::Rows>& tensors) {
  std::string text;
  for (const Prepend::Rows& rows : tensors) text += rows.tensor + ":" + std::to_string(rows.rows) + ";";
  return text;
}
std::string shown(Bias bias) { return bias == Bias::with ? "with" : "without"; }
std::string shown(After after) {
  return std::vector{"nothing", "relu", "gelu", "gelu_tanh", "silu", "tanh"}.at(static_cast<std::size_t>(after));
}
std::string shown(Pooling pooling) {
  return std::vector{"mean", "first", "last", "maximum"}.at(static_cast<std::size_t>(pooling));
}
template <class T>
std::string shown(const T& value) {
  std::ostringstream text;
  if constexpr (std::is_enum_v<T>)
    text << static_cast<int>(value);
  else
    text << value;
  return text.str();
}

// Returns the name of a step and its members that differ from their defaults: "pool from=1".
template <class S>
std::string shown_step(const S& step) {
  const S other{};
  std::vector<std::string> defaults;
  visit_members(other, [&](const char*, const auto& value) { defaults.push_back(shown(value)); });
  std::string text = defaults[0];
  std::size_t member = 0;
  visit_members(step, [&](const char* name, const auto& value) {
    if (shown(value) != defaults[member++]) text.append(" ").append(name).append("=").append(shown(value));
  });
  return text;
}

using Texts = std::vector<std::string>;
Texts shown_steps(const std::vector<Step>& steps) {
  Texts texts;
  for (const Step& step : steps) texts.push_back(std::visit([](const auto& s) { return shown_step(s); }, step));
  return texts;
}

void check(const std::vector<Step>& steps, const Texts& expected) {
  const Texts texts = shown_steps(steps);
  REQUIRE(texts.size() == expected.size());
  for (std::size_t i = 0; i < texts.size(); ++i) CHECK(texts[i] == expected[i]);
}
void check_input(const Stack& stack, const std::string& name, const Texts& expected) {
  CHECK(stack.input.name == name);
  CHECK(stack.input.missing.empty());
  check(stack.input.steps, expected);
}

std::string architecture(const std::string& name) { return R"(, "architectures": [")" + name + "\"]"; }
const std::string image = R"("image_size": 16, "patch_size": 4)", labels3 = R"(, "id2label": {"0":0,"1":1,"2":2})";
const std::string pair =
    R"("text_config": {"hidden_size": 32, "num_attention_heads": 4, "vocab_size": 100},
       "vision_config": {"hidden_size": 32, "num_attention_heads": 4, )" +
    image + "}, \"projection_dim\": 24";
const std::string bart = R"("d_model": 32, "encoder_attention_heads": 4, "decoder_attention_heads": 4,
                            "max_position_embeddings": 64, "vocab_size": 100)";
std::string patches(const std::string& name = "embeddings.patch_embeddings.projection") {
  return "patches name=" + name +
         " rows=16 columns=16 patch_rows=4 patch_columns=4 stride_rows=4 stride_columns=4 outputs=32";
}
const std::string class_token = "prepend tensors=embeddings.cls_token:1;";
const std::string class_and_distillation = "prepend tensors=embeddings.cls_token:1;embeddings.distillation_token:1;";

}  // namespace

TEST_SUITE_BEGIN("signal_steps");

TEST_CASE("ViT and DeiT") {
  const Stack vit = stack(small("vit", image));
  const std::string positions = "add_positions table=embeddings.position_embeddings rows=";
  check_input(vit, "pixel_values", {patches(), class_token, positions + "17"});
  check(vit.pooler, {"pool pooling=first", "linear_rows name=pooler.dense outputs=32 after=tanh"});
  CHECK(vit.head.empty());
  const Stack classifier = stack(small("vit", image + architecture("ViTForImageClassification") + labels3));
  CHECK(classifier.pooler.empty());
  check(classifier.head, {"pool pooling=first", "linear_rows name=classifier outputs=3"});
  check_input(stack(small("deit", image)), "pixel_values", {patches(), class_and_distillation, positions + "18"});
  const Stack other = stack(small("vit", R"("image_size": [8, 20], "patch_size": [2, 5], "num_channels": 1)"));
  CHECK(other.positions == 17);
  CHECK(shown_steps(other.input.steps)[0] ==
        "patches name=embeddings.patch_embeddings.projection channels=1 rows=8 columns=20 patch_rows=2 patch_columns=5 "
        "stride_rows=2 stride_columns=5 outputs=32");
  CHECK(says(error(small("vit", R"("image_size": 16, "patch_size": 17)")), "at most image_size"));
  CHECK(says(error(small("vit", R"("image_size": 65537)")), "at most 65536"));
  CHECK(says(error(small("vit", image + R"(, "pooler_act": "mish")")), "Ladon lacks this activation"));
}

TEST_CASE("the patches of a spectrogram overlap") {
  const std::string sizes = R"("patch_size": 4, "frequency_stride": 3, "time_stride": 2, "num_mel_bins": 8,
                               "max_length": 12)";
  const Stack ast =
      stack(small("audio-spectrogram-transformer", sizes + architecture("ASTForAudioClassification") + labels3));
  check_input(ast, "input_values",
              {"patches name=embeddings.patch_embeddings.projection channels=1 rows=8 columns=12 patch_rows=4 "
               "patch_columns=4 stride_rows=3 stride_columns=2 outputs=32 transposed=1",
               class_and_distillation, "add_positions table=embeddings.position_embeddings rows=12"});
  check(ast.pooler, {"pool tokens=2"});
  check(ast.head, {"norm_rows name=classifier.layernorm epsilon=1e-12", "linear_rows name=classifier.dense outputs=3"});
}

TEST_CASE("register tokens") {
  const Stack dinov2 = stack(small("dinov2_with_registers", image + R"(, "mlp_ratio": 2, "num_register_tokens": 3)"));
  check_input(dinov2, "pixel_values",
              {patches(), class_token, "add_positions table=embeddings.position_embeddings rows=17",
               "prepend tensors=embeddings.register_tokens:3; behind=1"});
  CHECK(dinov2.positions == 20);
  check(dinov2.pooler, {"pool pooling=first"});
  check_input(stack(small("dinov2", image + R"(, "mlp_ratio": 2)")), "pixel_values",
              {patches(), class_token, "add_positions table=embeddings.position_embeddings rows=17"});
  check_input(
      stack(small("dinov3_vit", image + R"(, "num_register_tokens": 2)")), "pixel_values",
      {patches("embeddings.patch_embeddings"), "prepend tensors=embeddings.cls_token:1;embeddings.register_tokens:2;"});
}

TEST_CASE("BEiT and VideoMAE pool the mean of the patches") {
  const Stack beit = stack(small("beit", image + architecture("BeitForImageClassification") + labels3));
  check_input(beit, "pixel_values", {patches(), class_token});
  check(beit.pooler, {"pool from=1", "norm_rows name=pooler.layernorm epsilon=1e-12"});
  check(beit.head, {"linear_rows name=classifier outputs=3"});
  check(stack(small("beit", image + R"(, "use_mean_pooling": false)")).pooler, {"pool pooling=first"});
  const std::string video = image + R"(, "num_frames": 6)" + architecture("VideoMAEForVideoClassification") + labels3;
  const Stack videomae = stack(small("videomae", video));
  check_input(videomae, "pixel_values",
              {"patches name=embeddings.patch_embeddings.projection frames=6 rows=16 columns=16 patch_frames=2 "
               "patch_rows=4 patch_columns=4 stride_rows=4 stride_columns=4 outputs=32",
               "add_positions rows=48 interleaved=1"});
  check(videomae.head, {"pool", "norm_rows name=fc_norm", "linear_rows name=classifier outputs=3"});
  check(stack(small("videomae", video + R"(, "use_mean_pooling": false)")).head,
        {"pool pooling=first", "linear_rows name=classifier outputs=3"});
}

TEST_CASE("models of texts and images") {
  const Description clip = described(R"("model_type": "clip", )" + pair);
  check_input(clip.stacks[0], "input_ids",
              {"lookup table=text_model.embeddings.token_embedding.weight rows=100 features=32",
               "add_positions table=text_model.embeddings.position_embedding.weight rows=77"});
  check(clip.stacks[0].pooler, {"pool pooling=last"});
  check(clip.stacks[0].head, {"linear_rows name=text_projection outputs=24 bias=without", "unit_length"});
  check_input(clip.stacks[1], "pixel_values",
              {patches("vision_model.embeddings.patch_embedding") + " bias=without",
               "prepend tensors=vision_model.embeddings.class_embedding:1;",
               "add_positions table=vision_model.embeddings.position_embedding.weight rows=17",
               "norm_rows name=vision_model.pre_layrnorm"});
  check(clip.stacks[1].pooler, {"pool pooling=first", "norm_rows name=vision_model.post_layernorm"});
  check(clip.stacks[1].head, {"linear_rows name=visual_projection outputs=24 bias=without", "unit_length"});
  const Description siglip = described(R"("model_type": "siglip", )" + pair);
  check(siglip.stacks[0].pooler, {"pool pooling=last", "linear_rows name=text_model.head outputs=32"});
  check(siglip.stacks[0].head, {"unit_length"});
  check_input(siglip.stacks[1], "pixel_values",
              {patches("vision_model.embeddings.patch_embedding"),
               "add_positions table=vision_model.embeddings.position_embedding.weight rows=16"});
  check(siglip.stacks[1].pooler, {"attention_pool name=vision_model.head heads=4 feed_forward=3072"});
  check(siglip.stacks[1].head, {"unit_length"});
  const std::string other = R"("vision_use_head": false, "image_size": 16, "patch_size": 4)";
  CHECK(stack(small("siglip_vision_model", other)).pooler.empty());
}

TEST_CASE("parts of models of texts and images") {
  const auto classifier = [](const std::string& family, const std::string& name) {
    const Description description =
        described("\"model_type\": \"" + family + "\", " + pair + architecture(name) + labels3);
    REQUIRE(description.stacks.size() == 1);
    CHECK(description.stacks[0].pooler.empty());
    return description.stacks[0].head;
  };
  check(classifier("clip", "CLIPForImageClassification"), {"pool from=1", "linear_rows name=classifier outputs=3"});
  check(classifier("siglip", "SiglipForImageClassification"), {"pool", "linear_rows name=classifier outputs=3"});
  check(stack(small("clip_text_model", R"("projection_dim": 24)" + architecture("CLIPTextModelWithProjection"))).head,
        {"linear_rows name=text_projection outputs=24 bias=without"});
  check(stack(small("clip_vision_model", image + architecture("CLIPVisionModelWithProjection"))).head,
        {"linear_rows name=visual_projection outputs=512 bias=without"});
  CHECK(stack(small("clip_vision_model", image)).head.empty());
}

TEST_CASE("wav2vec 2.0") {
  const std::string convolutions = R"("conv_dim": [8, 6], "conv_kernel": [10, 3], "conv_stride": [5, 2])";
  const std::string layer = "feature_extractor.conv_layers.";
  const Stack group = stack(small("wav2vec2", convolutions + architecture("Wav2Vec2ForCTC")));
  check_input(
      group, "input_values",
      {"frames frames=659", "convolve_rows name=" + layer + "0.conv outputs=8 width=10 stride=5 bias=without",
       "group_norm_rows name=" + layer + "0.layer_norm groups=8 after=gelu",
       "convolve_rows name=" + layer + "1.conv outputs=6 width=3 stride=2 bias=without after=gelu",
       "norm_rows name=feature_projection.layer_norm", "linear_rows name=feature_projection.projection outputs=32",
       "convolve_rows name=encoder.pos_conv_embed.conv outputs=32 width=128 before=64 behind=63 groups=16 "
       "after=gelu residual=1 weight_norm=1",
       "norm_rows name=encoder.layer_norm"});
  check(group.head, {"linear_rows name=lm_head outputs=32"});
  const std::string stable = R"(, "feat_extract_norm": "layer", "do_stable_layer_norm": true, "conv_bias": true,
      "num_conv_pos_embeddings": 5, "num_conv_pos_embedding_groups": 2, "classifier_proj_size": 9)";
  const Stack layers =
      stack(small("wav2vec2", convolutions + stable + architecture("Wav2Vec2ForSequenceClassification") + labels3));
  const Texts steps = shown_steps(layers.input.steps);
  REQUIRE(steps.size() == 10);
  CHECK(steps[1] == "convolve_rows name=" + layer + "0.conv outputs=8 width=10 stride=5");
  CHECK(steps[2] == "norm_rows name=" + layer + "0.layer_norm");
  CHECK(steps[3] == "apply function=gelu");
  CHECK(steps[5] == "norm_rows name=" + layer + "1.layer_norm");
  CHECK(steps[9] ==
        "convolve_rows name=encoder.pos_conv_embed.conv outputs=32 width=5 before=2 behind=2 groups=2 after=gelu "
        "residual=1 weight_norm=1");
  check(layers.head, {"linear_rows name=projector outputs=9", "pool", "linear_rows name=classifier outputs=3"});
}

TEST_CASE("numbers of wav2vec 2.0 that no model has") {
  CHECK(says(error(small("wav2vec2", R"("conv_dim": [])")), "a list of 1 to 64"));
  CHECK(says(error(small("wav2vec2", R"("conv_stride": [5, 0, 2, 2, 2, 2, 2])")), "a list of 1 to 64"));
  CHECK(says(error(small("wav2vec2", R"("conv_dim": [8])")), "a number for each of conv_dim"));
  CHECK(says(error(small("wav2vec2", R"("feat_extract_norm": "batch")")), "\"group\" or \"layer\""));
  CHECK(says(error(small("wav2vec2", R"("num_conv_pos_embeddings": 0)")), "at least 1"));
  CHECK(says(error(small("wav2vec2", R"("num_conv_pos_embedding_groups": 5)")), "a divisor"));
  CHECK(says(error(small("wav2vec2", R"("conv_dim": [1, 1, 1], "conv_kernel": [1, 1, 1],
                                        "conv_stride": [1048576, 1048576, 1048576])")),
             "at most 2^40 frames"));
  CHECK(says(stack(small("hubert", R"("conv_pos_batch_norm": true)")).input.missing, "batch norm"));
  CHECK(says(stack(small("wav2vec2", R"("add_adapter": true)")).input.missing, "add_adapter"));
  CHECK(shown_steps(stack(small("hubert", R"("feat_proj_layer_norm": false)")).input.steps)[9] ==
        "linear_rows name=feature_projection.projection outputs=32");
}

TEST_CASE("time series") {
  const std::string sizes = R"("norm_type": "layernorm", "d_model": 32, "context_length": 52, "patch_length": 5,
                               "patch_stride": 3)";
  const Stack patchtst = stack(small("patchtst", sizes + R"(, "use_cls_token": true)"));
  check_input(patchtst, "past_values",
              {"time_series_patches length=52 patch=5 stride=3 scaled=1",
               "linear_rows name=encoder.embedder.input_embedding outputs=32",
               "prepend tensors=encoder.positional_encoder.cls_token:1;",
               "add_positions table=encoder.positional_encoder.position_enc rows=17"});
  CHECK(shown_steps(stack(small("patchtst", sizes + R"(, "scaling": null)")).input.steps)[0] ==
        "time_series_patches length=52 patch=5 stride=3");
  CHECK(says(stack(small("patchtst", sizes + R"(, "scaling": "mean")")).input.missing, "scaling"));
  CHECK(says(stack(small("patchtst", sizes + R"(, "share_embedding": false)")).input.missing, "share_embedding"));
}

TEST_CASE("a series whose first patch may lack numbers") {
  const std::string frequency = "add_row table=freq_emb.weight rows=3";
  check_input(stack(R"("model_type": "timesfm")"), "past_values",
              {"frames frames=512", "masked_patches patch=32",
               "residual_block name=input_ff_layer hidden=1280 outputs=1280", frequency});
  const std::string positions = R"("model_type": "timesfm", "patch_length": 4, "context_length": 54, "tolerance": 0.5,
                                   "use_positional_embedding": true)";
  check_input(
      stack(positions), "past_values",
      {"frames frames=52", "masked_patches patch=4 least=0.5",
       "residual_block name=input_ff_layer hidden=1280 outputs=1280", "add_positions rows=13 closed=1", frequency});
  CHECK(says(stack(positions + R"(, "max_timescale": 500)").input.missing, "max_timescale"));
  CHECK(says(error(R"("model_type": "timesfm", "patch_length": 0)"), "at most context_length"));
  CHECK(says(error(R"("model_type": "timesfm", "patch_length": 513)"), "at most context_length"));
}

TEST_CASE("BART, mBART, Marian and Pegasus") {
  const Description description =
      described(R"("model_type": "bart", )" + bart + architecture("BartForConditionalGeneration"));
  const std::string lookup = "lookup table=shared.weight rows=100 features=32";
  check_input(description.stacks[0], "input_ids",
              {lookup, "add_positions table=encoder.embed_positions.weight rows=66 first=2",
               "norm_rows name=encoder.layernorm_embedding"});
  check_input(description.stacks[1], "decoder_input_ids",
              {lookup, "add_positions table=decoder.embed_positions.weight rows=66 first=2",
               "norm_rows name=decoder.layernorm_embedding"});
  CHECK(description.stacks[0].head.empty());
  check(description.stacks[1].head, {"tied_head", "add_row table=final_logits_bias"});
  CHECK(stack(R"("model_type": "mbart", )" + bart).input.steps.size() == 3);
  check(stack(R"("model_type": "pegasus", "scale_embedding": true, )" + bart).input.steps,
        {lookup + " scale=5.65685", "add_positions table=encoder.embed_positions.weight rows=64 optional=1"});
  const Stack decoder = stack(R"("model_type": "marian", "share_encoder_decoder_embeddings": false,
      "decoder_vocab_size": 90, "tie_word_embeddings": false, )" +
                                  bart + architecture("MarianMTModel"),
                              1);
  check(decoder.input.steps, {"lookup table=decoder.embed_tokens.weight rows=90 features=32",
                              "add_positions table=decoder.embed_positions.weight rows=64 optional=1"});
  check(decoder.head, {"linear_rows name=lm_head outputs=90 bias=without", "add_row table=final_logits_bias"});
}

TEST_CASE("T5") {
  const auto t5 = [](const std::string& more) {
    return R"("model_type": "t5", "d_model": 64, "vocab_size": 100)" + more;
  };
  const std::string generation = architecture("T5ForConditionalGeneration");
  const std::string lookup = "lookup table=shared.weight rows=100 features=64";
  check_input(stack(t5("")), "input_ids", {lookup});
  check_input(stack(t5(generation), 1), "decoder_input_ids", {lookup});
  check(stack(t5(generation), 1).head, {"tied_head scale=0.125"});
  check(stack(t5(generation + R"(, "scale_decoder_outputs": false)"), 1).head, {"tied_head"});
  check(stack(t5(generation + R"(, "tie_word_embeddings": false)"), 1).head,
        {"linear_rows name=lm_head outputs=100 bias=without"});
  CHECK(stack(t5(""), 1).head.empty());
  CHECK(described(t5(architecture("T5EncoderModel"))).stacks.size() == 1);
}

TEST_CASE("Whisper and Moonshine") {
  const Description whisper = described(R"("model_type": "whisper", "max_source_positions": 50, "num_mel_bins": 8, )" +
                                        bart + architecture("WhisperForConditionalGeneration"));
  check_input(whisper.stacks[0], "input_features",
              {"frames frames=100 channels=8 transposed=1 exact=1",
               "convolve_rows name=encoder.conv1 outputs=32 width=3 before=1 behind=1 after=gelu",
               "convolve_rows name=encoder.conv2 outputs=32 width=3 stride=2 before=1 behind=1 after=gelu",
               "add_positions table=encoder.embed_positions.weight rows=50"});
  check_input(whisper.stacks[1], "decoder_input_ids",
              {"lookup table=decoder.embed_tokens.weight rows=100 features=32",
               "add_positions table=decoder.embed_positions.weight rows=64"});
  check(whisper.stacks[1].head, {"tied_head"});
  const Description moonshine = described(R"("model_type": "moonshine", "hidden_size": 64, "vocab_size": 100,
      "encoder_num_attention_heads": 4, "decoder_num_attention_heads": 4, "partial_rotary_factor": 0.5,
      "max_position_embeddings": 10)" + architecture("MoonshineForConditionalGeneration"));
  check_input(
      moonshine.stacks[0], "input_values",
      {"frames frames=4734", "convolve_rows name=encoder.conv1 outputs=64 width=127 stride=64 bias=without after=tanh",
       "group_norm_rows name=encoder.groupnorm",
       "convolve_rows name=encoder.conv2 outputs=128 width=7 stride=3 after=gelu",
       "convolve_rows name=encoder.conv3 outputs=64 width=3 stride=2 after=gelu"});
  check(moonshine.stacks[1].head, {"tied_head"});
}

TEST_SUITE_END();

}  // namespace ladon::families
