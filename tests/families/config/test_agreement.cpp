// SPDX-License-Identifier: Apache-2.0
// Tests that `load` refuses a layer that contradicts the config.json of its checkpoint.
#include <map>

#include <ladon/safetensors.hpp>

#include "describing.hpp"
#include "safetensors_file.hpp"
#include "testing/fixtures.hpp"

namespace ladon::families {
namespace {

using examples::TemporaryFolder;
using safetensors::detail::Part;

// The layer that small("llama") describes.
constexpr Model llama{.layers = 4,
                      .tokens = 24,
                      .model = 32,
                      .heads = 4,
                      .kv_heads = 2,
                      .feed_forward = 48,
                      .activation = Activation::silu,
                      .norm = NormOrder::pre,
                      .gated = true,
                      .norm_kind = NormKind::rms,
                      .bias = Bias::without,
                      .final_norm = FinalNorm::with,
                      .mask = {.causal = true},
                      .position = {.pairing = Pairing::halves, .width = 8, .positions = 24},
                      .layout = LayoutKind::separate_qkv,
                      .projection_bias = Bias::without,
                      .output_bias = Bias::without};

constexpr Model bert_of(NormOrder order) {
  return {.layers = 1,
          .tokens = 4,
          .model = 4,
          .heads = 2,
          .feed_forward = 8,
          .activation = Activation::gelu,
          .norm = order,
          .layout = LayoutKind::separate_qkv};
}
constexpr Model post_bert = bert_of(NormOrder::post);

// Returns the error of `agree` without its first line, or "".
std::string disagreement(const Model& layer, const std::string& config, Part part = Part::stack,
                         const std::string& prefix = "layers") {
  const TemporaryFolder folder;
  (void)folder.file("config.json", "{" + config + "}");
  (void)folder.file("model.safetensors", files::safetensors("{}", ""));
  const bool is_stack = part == Part::stack || part == Part::decoder;
  const bool attends_memory = part == Part::decoder || part == Part::decoder_layer;
  try {
    agree(safetensors::Folder(folder.path()), prefix, part,
          safetensors::detail::facts_of(layer, attends_memory, is_stack));
  } catch (const safetensors::Error& failure) {
    const std::string text = failure.what();
    return text.substr(text.find('\n') == std::string::npos ? 0 : text.find('\n') + 1);
  }
  return "";
}

// Returns a checkpoint with one layer of BERT. All names begin with `wrapper`.
files::Checkpoint bert_checkpoint(const std::string& wrapper) {
  files::Checkpoint checkpoint;
  const std::string layer = wrapper + "encoder.layer.0.";
  for (const char* name :
       {"attention.self.query", "attention.self.key", "attention.self.value", "attention.output.dense"})
    checkpoint.add(layer + name + ".weight", 4, 4, 1).add(layer + name + ".bias", 4, 2);
  checkpoint.add(layer + "intermediate.dense.weight", 8, 4, 3).add(layer + "intermediate.dense.bias", 8, 4);
  checkpoint.add(layer + "output.dense.weight", 4, 8, 5).add(layer + "output.dense.bias", 4, 6);
  for (const char* name : {"attention.output.LayerNorm", "output.LayerNorm"})
    checkpoint.add(layer + name + ".weight", 4, 7).add(layer + name + ".bias", 4, 8);
  return checkpoint;
}

constexpr const char* bert_config = R"({"model_type": "bert", "hidden_size": 4, "num_hidden_layers": 1,
    "num_attention_heads": 2, "intermediate_size": 8, "layer_norm_eps": 3e-7})";

}  // namespace

TEST_SUITE_BEGIN("agreement");

TEST_CASE("a layer that agrees") {
  CHECK(disagreement(llama, small("llama")).empty());
  Model other = llama;
  other.tokens = 7;
  other.keys = 96;
  other.precision = PrecisionKind::bfloat16;
  other.mask.padding = true;
  other.position.positions = 96;
  other.head_width = 8;
  other.score.scale = 0.35355338f;
  CHECK(disagreement(other, small("llama")).empty());
}

TEST_CASE("each key that contradicts") {
  const std::map<std::string, std::string> contradictions = {
      {R"("num_hidden_layers": 5)", R"(  layers: the layer says 4, and config.json says 5 ("num_hidden_layers"))"},
      {R"("hidden_size": 64)", R"(  model: the layer says 32, and config.json says 64 ("hidden_size"))"},
      {R"("num_attention_heads": 8)", R"(  heads: the layer says 4, and config.json says 8 ("num_attention_heads"))"},
      {R"("num_key_value_heads": 4)",
       R"(  kv_heads: the layer says 2, and config.json says 4 ("num_key_value_heads"))"},
      {R"("head_dim": 12)", R"(  head_width: the layer says 8, and config.json says 12 ("head_dim"))"},
      {R"("intermediate_size": 96)",
       R"(  feed_forward: the layer says 48, and config.json says 96 ("intermediate_size"))"},
      {R"("hidden_act": "gelu")",
       R"(  activation: the layer says ladon::Activation::silu, and config.json says ladon::Activation::gelu ("hidden_act"))"},
      {R"("attention_bias": true)",
       R"(  projection_bias: the layer says ladon::Bias::without, and config.json says ladon::Bias::with ("attention_bias"))"},
      {R"("mlp_bias": true)",
       R"(  bias: the layer says ladon::Bias::without, and config.json says ladon::Bias::with ("mlp_bias"))"},
      {R"("partial_rotary_factor": 0.5)",
       R"(  position.width: the layer says 8, and config.json says 4 ("partial_rotary_factor"))"},
  };
  for (const auto& [key, message] : contradictions) {
    // The later of two equal keys would be an error, so the small config.json leaves out the key.
    std::string config = small("llama");
    const std::string name = key.substr(0, key.find(':'));
    if (const auto place = config.find(name); place != std::string::npos)
      config.erase(place, config.find(',', place) == std::string::npos ? std::string::npos
                                                                       : config.find(',', place) + 1 - place);
    CAPTURE(config);
    CHECK(says(disagreement(llama, config + ", " + key), message));
  }
}

TEST_CASE("relatives of Llama that have the same tensors") {
  CHECK(disagreement(llama, small("mistral", R"("sliding_window": 5)")) ==
        "  window of layer 0: the layer says ladon::all before, 0 after, and config.json says 4 before, 0 after "
        "(\"sliding_window\")");
  CHECK(says(disagreement(llama, small("gemma", R"("head_dim": 8)")),
             "  norm_gain: the layer says ladon::NormGain::weight, and config.json says "
             "ladon::NormGain::one_plus_weight (\"model_type\" \"gemma\")"));
  CHECK(
      says(disagreement(llama, small("granite", R"("residual_multiplier": 0.25, "attention_multiplier": 0.35355338)")),
           R"(  residual_scale: the layer says 1.0f, and config.json says 0.25f ("residual_multiplier"))"));
  CHECK(says(disagreement(llama, small("helium", R"("head_dim": 8)")),
             "  position.pairing: the layer says ladon::Pairing::halves, and config.json says "
             "ladon::Pairing::neighbours (\"model_type\" \"helium\")"));
  CHECK(says(disagreement(llama, small("ernie4_5", R"("head_dim": 8)")), "  position.pairing:"));
  CHECK(disagreement(llama, small("smollm3")) ==
        "  unrotated of layer 3: the layer says false, and config.json says true (\"no_rope_layer_interval\")");
  CHECK(says(disagreement(llama, small("stablelm")),
             "  position.width: the layer says 8, and config.json says 2 "
             "(\"partial_rotary_factor\")"));
  CHECK(says(disagreement(llama, small("qwen2")), "  projection_bias:"));
  CHECK(says(disagreement(llama, small("qwen3", R"("head_dim": 8)")), "  query_key_norm.over:"));
}

TEST_CASE("kinds of layers") {
  Model gemma = llama;
  gemma.norm = NormOrder::both;
  gemma.norm_gain = NormGain::one_plus_weight;
  gemma.activation = Activation::gelu_tanh;
  gemma.score = {.scale = 0.0625f, .softcap = 50};
  gemma.kinds = {{.window = 4}, {}};
  const std::string config = small("gemma2", R"("head_dim": 8, "sliding_window": 5)");
  CHECK(disagreement(gemma, config).empty());
  gemma.kinds = {{}, {.window = 4}};
  CHECK(says(disagreement(gemma, config), "  window of layer 0: the layer says ladon::all before"));
  gemma.kinds = {{.window = 4}, {}};
  gemma.kind_of_layer = {0, 1, 1, 1};
  CHECK(says(disagreement(gemma, config), "  window of layer 2:"));
  // One layer without kinds is the layer of the prefix.
  gemma.kinds = {}, gemma.kind_of_layer = {};
  gemma = gemma.one_layer();
  CHECK(disagreement(gemma, config, Part::layer, "model.layers.1").empty());
  CHECK(says(disagreement(gemma, config, Part::layer, "model.layers.2"), "  window of layer 2:"));
}

TEST_CASE("parts of a model") {
  const std::string t5 = R"("model_type": "t5", "d_model": 32, "d_kv": 8, "d_ff": 48, "num_heads": 4, "num_layers": 4)";
  Model stack{.layers = 4, .tokens = 24, .model = 32, .heads = 4, .feed_forward = 48};
  stack.norm = NormOrder::pre;
  stack.norm_kind = NormKind::rms;
  stack.final_norm = FinalNorm::with;
  stack.bias = stack.projection_bias = stack.output_bias = Bias::without;
  stack.mask.relative = true;
  stack.score.scale = 1;
  CHECK(disagreement(stack, t5, Part::stack, "encoder.block").empty());
  CHECK(disagreement(stack, t5, Part::stack, "").empty());
  CHECK(disagreement(stack, t5, Part::layer, "encoder.block.3").empty());
  stack.memory = 24;
  CHECK(disagreement(stack, t5, Part::decoder, "decoder.block").empty());
  stack.heads = 8;
  CHECK(says(disagreement(stack, t5, Part::attention, "encoder.block.0.layer.0.SelfAttention"), "  heads:"));
  stack.heads = 4;
  CHECK(disagreement(stack, t5, Part::attention, "encoder.block.0.layer.0.SelfAttention").empty());
  CHECK(says(disagreement(llama, small("llama"), Part::decoder), "\"llama\" has no layers that attend to a memory"));
  const std::string clip = R"("model_type": "clip", "text_config": {}, "vision_config": {})";
  CHECK(says(
      disagreement(llama, clip, Part::stack, "layers"),
      R"(no stack has the prefix "layers"; there are "text_model.encoder.layers", "vision_model.encoder.layers")"));
}

TEST_CASE("load takes the prefix and the epsilon from config.json") {
  const TemporaryFolder folder;
  (void)folder.file("config.json", bert_config);
  (void)folder.file("model.safetensors", bert_checkpoint("").content());
  const safetensors::Folder opened(folder.path());
  const auto weights = safetensors::load<Encoder<post_bert>>(opened);
  CHECK(weights.layers[0].norm1.epsilon == 3e-7f);
  CHECK(weights.layers[0].linear1.weight.data[0] == 3);
  CHECK_THROWS_WITH_AS((void)safetensors::load<Encoder<bert_of(NormOrder::pre)>>(opened),
                       doctest::Contains("norm: the layer says ladon::NormOrder::pre, and config.json says"),
                       safetensors::Error);
  // A file alone does not have the epsilon.
  CHECK_THROWS_WITH_AS((void)safetensors::load<Encoder<post_bert>>(opened.file(), "encoder.layer"),
                       doctest::Contains("Hugging Face BERT have different epsilons: state {.epsilon = ..}"),
                       safetensors::Error);
  CHECK(safetensors::load<Encoder<post_bert>>(opened.file(), "encoder.layer", {.epsilon = 1e-6f})
            .layers[0]
            .norm1.epsilon == 1e-6f);
  // Types state the mask and the layout, so the members of the Model do not count.
  using Masked = Encoder<post_bert, mask::Causal, layout::SeparateQKV>;
  CHECK(safetensors::load<Masked>(opened).layers[0].norm2.epsilon == 3e-7f);
}

TEST_CASE("load finds the layers of a class with a head") {
  const TemporaryFolder folder;
  (void)folder.file("config.json", bert_config);
  (void)folder.file("model.safetensors", bert_checkpoint("bert.").content());
  const safetensors::Folder opened(folder.path());
  CHECK(safetensors::load<Encoder<post_bert>>(opened).layers[0].linear1.weight.data[0] == 3);
  CHECK(safetensors::load<Encoder<post_bert>>(opened, "bert.encoder.layer").layers[0].linear1.weight.data[0] == 3);
}

TEST_SUITE_END();

}  // namespace ladon::families
