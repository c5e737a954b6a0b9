// SPDX-License-Identifier: Apache-2.0
// Tests the errors of a config.json, and the texts that `ladon-weights describe` prints.
#include "describing.hpp"
#include "families.hpp"
#include "print.hpp"

namespace ladon::families {

TEST_SUITE_BEGIN("describe");

TEST_CASE("a config.json of every family that states nothing has the defaults of its configuration class") {
  std::size_t families = 0;
  for (const auto& list : {bert_like(), llama_like(), gemma_like(), gpt_like(), vision(), signals(), seq2seq()})
    for (const Family& family : list) {
      const std::string name = family.model_type;
      CAPTURE(name);
      const std::string text = R"("model_type": ")" + name + '"';
      if (name == "deberta" || name == "deberta-v2" || name == "wavlm" || name == "patchtst") {
        CHECK(says(error(text), "docs/limits.md"));
        continue;
      }
      const Description description = described(text);
      CHECK_FALSE(description.stacks.empty());
      CHECK(says(as_cpp(description, "config.json"), "ladon::Model model{"));
      CHECK(says(as_json(description), "\"prefix\""));
      ++families;
    }
  CHECK(families > 75);
}

TEST_CASE("errors name the key and its value") {
  CHECK(error(R"("hidden_size": 8)") == R"(config.json: "model_type": expected the name of a family, found nothing)");
  CHECK(
      error(small("llama", R"("hidden_act": "mish")")) ==
      R"(config.json: "hidden_act" is "mish": Ladon lacks this activation; it has relu, gelu, gelu_python, gelu_new, )"
      "gelu_fast, gelu_accurate, gelu_pytorch_tanh, gelu_python_tanh, silu, swish, quick_gelu, relu2, xielu "
      "(docs/limits.md)");
  CHECK(error(R"("model_type": "llama", "num_hidden_layers": "many")") ==
        R"(config.json: "num_hidden_layers": expected a whole number from 0 to 2^30, found "many")");
  CHECK(error(R"("model_type": "llama", "num_hidden_layers": -1)") ==
        R"(config.json: "num_hidden_layers": expected a whole number from 0 to 2^30, found -1)");
  CHECK(says(error(R"("model_type": "bert", "num_attention_heads": 0)"),
             R"("num_attention_heads": expected at least 1)"));
  CHECK(says(error(R"("model_type": "gemma2", "num_hidden_layers": 1000000000)"), "expected from 1 to 4096"));
  CHECK(says(error(R"("model_type": "bert", "num_hidden_layers": 0)"),
             R"("num_hidden_layers": expected from 1 to 4096)"));
  CHECK(says(error(R"("model_type": "bert", "num_attention_heads": 7)"), "expected a divisor of the model's width"));
  CHECK(says(error(R"("model_type": "llama", "num_key_value_heads": 3)"), "expected a divisor of the number of heads"));
  CHECK(says(error(small("qwen3", R"("layer_types": ["full_attention"])")), "expected a text for each layer"));
  CHECK(says(error(small("gemma3_text", R"("rope_parameters": {"full_attention": [1]})")),
             R"(config.json: "rope_parameters": "full_attention": expected an object, found [1])"));
}

TEST_CASE("what Ladon lacks") {
  CHECK(error(R"("model_type": "mixtral", "num_local_experts": 8)") ==
        R"(config.json: "num_local_experts" is 8: mixtures of experts are outside Ladon (docs/limits.md))");
  CHECK(
      says(error(R"("model_type": "qwen3_moe", "num_experts": 128)"), R"("num_experts" is 128: mixtures of experts)"));
  CHECK(says(error(small("lfm2", R"("layer_types": ["conv", "conv", "full_attention", "conv"])")),
             "Ladon lacks the layers with a convolution"));
  CHECK(says(error(small("qwen3", R"("layer_types": ["linear_attention", "", "", ""])")), "linear_attention"));
  CHECK(says(error(small("bert", R"("position_embedding_type": "relative_key")")), R"("relative_key": Ladon lacks)"));
  CHECK(says(error(small("bert", R"("is_decoder": true, "add_cross_attention": true)")), "add_cross_attention"));
  CHECK(says(error(small("olmo", R"("clip_qkv": 8.0)")), R"("clip_qkv" is 8.0)"));
  CHECK(says(error(small("llama", R"("rope_parameters": {"rope_type": "spiral", "rope_theta": 1e4})")),
             R"(config.json: "rope_parameters": "rope_type" is "spiral")"));
  CHECK(says(error(small("llama", R"("quantization_config": {"quant_method": "gptq", "bits": 4})")),
             R"("quantization_config": "quant_method" is "gptq")"));
  CHECK(says(error(small("llama", R"("quantization_config": {"quant_method": "awq", "bits": 4})")),
             "take the model as it was before, and choose --precision"));
  CHECK(says(error(small("llama", R"("quantization_config": {"quant_method": "compressed-tensors",
      "format": "pack-quantized"})")),
             R"("quantization_config": "format" is "pack-quantized")"));
  CHECK(model(small("llama", R"("quantization_config": {"quant_method": "compressed-tensors",
      "config_groups": {"group_0": {"weights": {"num_bits": 8}, "targets": ["Linear"]}}})"))
            .layers == 4);
}

TEST_CASE("numbers that no model has") {
  for (const char* key : {"\"num_key_value_heads\": 0", "\"head_dim\": 0", "\"rope_theta\": 1", "\"rms_norm_eps\": -1",
                          "\"rms_norm_eps\": 1e31", "\"partial_rotary_factor\": -1"})
    CHECK(says(error(std::string(R"("model_type": "llama", )") + key), ": expected "));
  const auto scaled = [](const char* rope) { return error(small("llama", R"("rope_scaling": )" + std::string(rope))); };
  CHECK(says(scaled(R"({"type": "linear", "factor": 0})"), R"("factor": expected a number above 0)"));
  CHECK(says(scaled(R"({"type": "yarn", "original_max_position_embeddings": 0})"), "expected a number above 1"));
  CHECK(says(scaled(R"({"type": "llama3", "factor": 2, "high_freq_factor": 1})"), "above low_freq_factor"));
  CHECK(says(error(R"("model_type": "dinov2", "mlp_ratio": -1)"), "expected a factor of 768"));
  CHECK(says(error(R"("model_type": "falcon", "new_decoder_architecture": true, "num_kv_heads": 0)"), "at least 1"));
  CHECK(says(error(R"("model_type": "gpt_neo", "attention_types": [[[], 1000000]])"), "expected patterns"));
  CHECK(says(error(R"("model_type": "bart", "encoder_attention_heads": 0)"), "expected at least 1"));
}

TEST_CASE("an unknown model_type") {
  CHECK(error(R"("model_type": "qwen4")") ==
        "config.json: \"model_type\" is \"qwen4\": Ladon does not know this family; docs/families.md lists the known "
        "ones, "
        "such as qwen2, qwen3 (docs/limits.md)");
  CHECK(says(error(R"("model_type": "modernbert-decoder")"), "such as modernbert"));
  CHECK(says(error(R"("model_type": "zzzzzzzzzzzz")"),
             "does not know this family; docs/families.md lists the known ones (docs/limits.md)"));
}

TEST_CASE("a text that is no config.json") {
  const auto message = [](const std::string& text) {
    try {
      describe_text(text, "config.json");
    } catch (const safetensors::Error& failure) {
      return std::string(failure.what());
    }
    return std::string();
  };
  CHECK(says(message(""), "config.json: is not valid JSON"));
  CHECK(says(message(R"({"model_type": "bert", "hidden_si)"), "config.json: is not valid JSON"));
  CHECK(says(message(R"({"model_type": "bert", "model_type": "gpt2"})"), R"(the key "model_type" appears twice)"));
  CHECK(says(message("{\xff"), "is not valid JSON"));
  CHECK(message("{\xff").find('\xff') == std::string::npos);
  CHECK(says(message("[]"), "config.json: expected an object, found []"));
  CHECK(says(message(std::string(100000, '[')), "config.json: is not valid JSON"));
  CHECK_THROWS_AS(describe("no such folder"), safetensors::Error);
}

TEST_CASE("the number of tokens") {
  CHECK(described(small("llama")).stacks[0].model.tokens == 64);
  CHECK(described(small("llama"), 12).stacks[0].model.tokens == 12);
  CHECK(described(R"("model_type": "llama", "max_position_embeddings": 131072)").stacks[0].model.tokens == 2048);
  CHECK(described(R"("model_type": "llama", "max_position_embeddings": 131072)").stacks[0].positions == 131072);
}

TEST_CASE("the description as C++") {
  const Description description =
      described(small("gemma2", R"("vocab_size": 100, "head_dim": 16, "sliding_window": 5)"));
  const std::string text = as_cpp(description, "folder/config.json");
  CHECK(text.starts_with("// folder/config.json: model_type \"gemma2\"\n"));
  CHECK(says(text, "namespace decoder {\n\n// The model multiplies its embeddings by 5.656854f.\n"));
  CHECK(says(text, R"(
    .head_width = 16,
    .feed_forward = 48,
    .activation = ladon::Activation::gelu_tanh,
    .norm = ladon::NormOrder::both,
    .gated = true,
    .norm_kind = ladon::NormKind::rms,
    .norm_gain = ladon::NormGain::one_plus_weight,
    .bias = ladon::Bias::without,
    .final_norm = ladon::FinalNorm::with,
    .mask = {.causal = true},
    .score = {.scale = 0.0625f, .softcap = 50.0f},
    .position = {.pairing = ladon::Pairing::halves, .width = 16, .positions = 64},
    .layout = ladon::LayoutKind::separate_qkv,
    .projection_bias = ladon::Bias::without,
    .output_bias = ladon::Bias::without,
    .kinds = {{.window = 4}, {}},
};
using Stack = ladon::Encoder<model>;
)"));
  CHECK(says(text, "return ladon::safetensors::load<Stack>(folder, \"layers\");"));
  CHECK(says(text, "ladon::fill_rotary_table(tables[1], ladon::RotaryScaling{});"));
}

TEST_CASE("the caches of layers with a window") {
  const auto text = [](const std::string& config) { return as_cpp(described(config), ""); };
  CHECK(says(text(small("gemma2", R"("sliding_window": 5)")),
             "  grown.keys = model.tokens;\n  grown.window_keys = 4 + most;\n"));
  CHECK(says(text(small("mistral", R"("sliding_window": 5)")), "  grown.keys = 4 + most;\n  return grown;"));
  for (const std::string& config : {small("llama"), small("gemma2", R"("sliding_window": 65)"),
                                    small("gemma3_text", R"("use_bidirectional_attention": true)")})
    CHECK(!says(text(config), "growing"));
}

TEST_SUITE_END();

}  // namespace ladon::families
