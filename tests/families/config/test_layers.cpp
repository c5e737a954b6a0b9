// SPDX-License-Identifier: Apache-2.0
// Tests what families state about their layers: structures, windows, rotary embeddings, biases.
#include <cmath>
#include <vector>

#include "describing.hpp"

namespace ladon::families {
namespace {

std::vector<std::size_t> windows(const Model& m) {
  std::vector<std::size_t> list;
  for (std::size_t i = 0; i < m.layers; ++i) list.push_back(m.kinds.items[m.kind_number(i)].window);
  return list;
}
using Windows = std::vector<std::size_t>;

}  // namespace

TEST_SUITE_BEGIN("layers");

TEST_CASE("BERT and its relatives") {
  const Stack bert = stack(small("bert", R"("layer_norm_eps": 1e-6)"));
  CHECK(bert.model.norm == NormOrder::post);
  CHECK(bert.model.activation == Activation::gelu);
  CHECK(bert.model.kv_heads == 0);
  CHECK_FALSE(bert.model.mask.causal);
  CHECK(bert.epsilon == 1e-6f);
  CHECK(bert.prefix == "encoder.layer");
  CHECK(model(small("bert", R"("is_decoder": true)")).mask.causal);
  CHECK(stack(small("camembert")).epsilon == 1e-12f);
  const Stack albert = stack(small("albert", R"("num_hidden_groups": 2)"));
  CHECK(albert.sets_of_weights == 2);
  CHECK(albert.model.activation == Activation::gelu_tanh);
  CHECK(says(error(small("albert", R"("num_hidden_groups": 3)")), "a divisor of num_hidden_layers"));
  const Stack mpnet = stack(small("mpnet"));
  CHECK(mpnet.model.mask.relative);
  CHECK(mpnet.relative_bias.value().tensor == "encoder.relative_attention_bias.weight");
  CHECK_FALSE(mpnet.relative_bias.value().buckets.causal);
  CHECK(model(small("esm")).position.width == 0);
  CHECK(model(small("esm", R"("position_embedding_type": "rotary")")).position.width == 8);
}

TEST_CASE("ModernBERT: kinds of layers with windows, angles, and without a norm") {
  const Stack bert = stack(small("modernbert", R"("local_attention": 6)"));
  const Model& m = bert.model;
  REQUIRE(m.kinds.count == 3);
  CHECK(windows(m) == Windows{0, 3, 3, 0});
  CHECK(m.kinds.items[m.kind_number(0)].unnormed_attention);
  CHECK_FALSE(m.kinds.items[m.kind_number(3)].unnormed_attention);
  REQUIRE(bert.rotary.size() == 3);
  CHECK(bert.rotary[m.kind_number(0)].scaling.base == 160000);
  CHECK(bert.rotary[m.kind_number(1)].scaling.base == 10000);
  CHECK(bert.rotary[m.kind_number(3)].scaling.base == 160000);
  CHECK(bert.final_norm == "final_norm");
}

TEST_CASE("windows of all layers, and of some layers") {
  CHECK(model(small("mistral")).mask.left == 4095);
  CHECK(model(small("mistral", R"("sliding_window": null)")).mask.left == all);
  CHECK(model(small("mistral", R"("sliding_window": 1)")).mask.left == 0);
  CHECK(says(error(small("mistral", R"("sliding_window": 0)")), "expected at least 1"));
  CHECK(model(small("starcoder2")).mask.left == all);
  CHECK(model(small("phi3", R"("sliding_window": 7)")).mask.left == 6);
  CHECK(model(small("qwen2", R"("sliding_window": 7)")).kinds.count == 0);
  const std::string qwen = R"("use_sliding_window": true, "sliding_window": 7, "max_window_layers": 3)";
  CHECK(windows(model(small("qwen2", qwen))) == Windows{0, 0, 0, 6});
  CHECK(windows(model(small("gemma2"))) == Windows{4095, 0, 4095, 0});
  CHECK(windows(model(small("gemma3_text", R"("sliding_window_pattern": 3)"))) == Windows{4095, 4095, 0, 4095});
  CHECK(windows(model(small("gpt_neo", R"("window_size": 5, "attention_types": [[["local", "global"], 2]])"))) ==
        Windows{4, 0, 4, 0});
  CHECK(stack(small("gpt_neo")).rotary.empty());
  CHECK(says(error(small("gpt_neo", R"("attention_types": [[["local"], 2]])")), "\"attention_types\": expected"));
}

TEST_CASE("windows to both sides") {
  const Model t5 = model(small("t5_gemma_module", R"("sliding_window": 5)"));
  CHECK_FALSE(t5.mask.causal);
  CHECK(windows(t5) == Windows{5, 0, 5, 0});
  const Model embedding =
      model(small("gemma3_text", R"("use_bidirectional_attention": true, "sliding_window": 6, "layer_types":
                ["sliding_attention", "sliding_attention", "full_attention", "full_attention"])"));
  CHECK_FALSE(embedding.mask.causal);
  CHECK(windows(embedding) == Windows{3, 3, 0, 0});
}

TEST_CASE("layers without rotation") {
  const Model smollm = model(small("smollm3"));
  REQUIRE(smollm.kinds.count == 2);
  CHECK_FALSE(smollm.kinds.items[smollm.kind_number(2)].unrotated);
  CHECK(smollm.kinds.items[smollm.kind_number(3)].unrotated);
  const Model listed = model(small("smollm3", R"("no_rope_layers": [0, 1, 1, 1])"));
  CHECK(listed.kinds.items[listed.kind_number(0)].unrotated);
  const Model cohere = model(small("cohere2", R"("sliding_window": 5)"));
  CHECK(windows(cohere) == Windows{4, 4, 4, 0});
  CHECK(cohere.kinds.items[cohere.kind_number(3)].unrotated);
  const Stack olmo = stack(small("olmo3", R"("rope_scaling": {"rope_type": "yarn", "factor": 8.0})"));
  CHECK(olmo.rotary.at(olmo.model.kind_number(3)).scaling.kind == RotaryKind::yarn);
  CHECK(olmo.rotary.at(olmo.model.kind_number(0)).scaling.kind == RotaryKind::none);
  const Model exaone = model(small("exaone4", R"("sliding_window": 5, "sliding_window_pattern": "LLLG")"));
  CHECK(windows(exaone) == Windows{4, 4, 4, 0});
  CHECK(exaone.kinds.items[exaone.kind_number(3)].unrotated);
  const Model full = model(small("exaone4", R"("sliding_window": null)"));
  CHECK(full.kinds.count == 0);
  CHECK(full.position.width == 8);
}

TEST_CASE("residuals, norms and their gains") {
  CHECK(model(small("gpt_neox")).residual == Residual::parallel);
  CHECK(model(small("gpt_neox", R"("use_parallel_residual": false)")).residual == Residual::sequential);
  CHECK(model(small("phi")).residual == Residual::parallel_one_norm);
  CHECK(model(small("cohere")).residual == Residual::parallel_one_norm);
  CHECK(model(small("falcon")).residual == Residual::parallel_one_norm);
  CHECK(model(small("falcon", R"("new_decoder_architecture": true)")).residual == Residual::parallel);
  CHECK(model(small("falcon", R"("parallel_attn": false)")).residual == Residual::sequential);
  CHECK(says(error(small("falcon", R"("alibi": true)")), R"("alibi" is true)"));
  CHECK(model(small("gemma")).norm_gain == NormGain::one_plus_weight);
  CHECK(model(small("nemotron")).norm_gain == NormGain::one_plus_weight);
  CHECK(model(small("glm4")).norm == NormOrder::both);
  CHECK(model(small("olmo2")).norm == NormOrder::output);
  const Stack decoder = stack(R"("model_type": "t5gemma", "encoder": {"sliding_window": 9}, "decoder": {})", 1);
  CHECK((decoder.attends_memory && decoder.model.norm == NormOrder::both));
  CHECK(decoder.model.window_of_kinds() == 4095);
  CHECK(model(small("olmo")).norm_bias == Bias::without);
  CHECK(model(small("opt", R"("do_layer_norm_before": false)")).norm == NormOrder::post);
  CHECK(model(small("opt", R"("do_layer_norm_before": false)")).final_norm == FinalNorm::without);
  CHECK(model(small("granite", R"("residual_multiplier": 0.25)")).residual_scale == 0.25f);
  CHECK(model(small("granite", R"("attention_multiplier": 0.125)")).score.scale == 0.125f);
}

TEST_CASE("norms of queries and keys") {
  CHECK(model(small("qwen3")).query_key_norm.over == HeadNorm::head);
  CHECK(model(small("olmo2")).query_key_norm.over == HeadNorm::all);
  CHECK(model(small("nanochat")).query_key_norm.after_rotation);
  CHECK(stack(small("nanochat")).rotary[0].scaling.negated);
  CHECK(model(small("stablelm")).query_key_norm.over == HeadNorm::none);
  CHECK(model(small("stablelm", R"("qk_layernorm": true)")).query_key_norm.over == HeadNorm::each_head);
  const Model persimmon = model(small("persimmon"));
  CHECK(persimmon.query_key_norm.kind == NormKind::layer);
  CHECK(persimmon.query_key_norm.bias == Bias::with);
  CHECK(persimmon.projection_blocks == 4);
}

TEST_CASE("rotary embeddings") {
  CHECK(model(small("stablelm", R"("rope_pct": 1.0)")).position.width == 2);
  CHECK(model(small("glm")).position.pairing == Pairing::neighbours);
  CHECK(model(small("glm")).position.width == 64);  // head_dim is 128
  CHECK(model(small("helium", R"("head_dim": 8)")).position.pairing == Pairing::neighbours);
  CHECK(model(small("llama")).position.pairing == Pairing::halves);
  CHECK(says(error(small("gptj", R"("rotary_dim": 16)")), R"("rotary_dim": expected an even number)"));
  CHECK(says(error(small("phi", R"("partial_rotary_factor": 0.4)")), "a share of the head's 8 features"));
  const auto scaling = [](const std::string& parameters) {
    return stack(small("llama", R"("rope_parameters": )" + parameters)).rotary[0];
  };
  const RotaryScaling llama3 =
      scaling(R"({"rope_type": "llama3", "rope_theta": 500000.0, "factor": 8.0, "low_freq_factor": 1.0,
                  "high_freq_factor": 4.0, "original_max_position_embeddings": 8192})")
          .scaling;
  CHECK(llama3.kind == RotaryKind::llama3);
  CHECK(llama3.base == 500000);
  CHECK(llama3.factor == 8);
  CHECK(llama3.original_positions == 8192);
  const RotaryScaling yarn = scaling(R"({"rope_type": "yarn", "factor": 4.0, "beta_fast": 16, "truncate": false,
      "mscale": 1.0, "mscale_all_dim": 0.5, "original_max_position_embeddings": 16})")
                                 .scaling;
  CHECK(yarn.beta_fast == 16);
  CHECK_FALSE(yarn.truncate);
  CHECK(yarn.attention_factor == doctest::Approx((0.1 * std::log(4.0) + 1) / (0.05 * std::log(4.0) + 1)));
  const Rotary longrope =
      scaling(R"({"rope_type": "longrope", "short_factor": [1, 1, 1, 1], "long_factor": [2, 3, 4, 5],
      "original_max_position_embeddings": 16})");
  CHECK(longrope.factors == std::vector<double>{2, 3, 4, 5});
  CHECK(longrope.scaling.factor == 4);  // 64 / 16
  CHECK(says(error(small("llama", R"("rope_parameters": {"rope_type": "linear"})")), R"("factor": expected a number)"));
}

TEST_CASE("images") {
  const Stack vit = stack(small("vit", R"("image_size": [16, 24], "patch_size": 4, "qkv_bias": false)"));
  CHECK(vit.model.tokens == 25);
  CHECK(vit.model.projection_bias == Bias::without);
  CHECK(vit.final_norm == "layernorm");
  const Stack dino = stack(small("dinov3_vit", R"("image_size": 16, "patch_size": 4, "num_register_tokens": 2)"));
  CHECK(dino.model.tokens == 19);
  CHECK(dino.rotary[0].prefix == 3);
  CHECK(dino.rotary[0].rows == 4);
  CHECK(model(small("beit", R"("use_relative_position_bias": true)")).layer_bias);
  CHECK(model(small("dinov2", R"("mlp_ratio": 2, "use_swiglu_ffn": true)")).feed_forward == 48);
  const Description clip = described(R"("model_type": "clip", "text_config": {"hidden_size": 64, "model_type": "x"})");
  REQUIRE(clip.stacks.size() == 2);
  CHECK(clip.stacks[0].model.model == 64);
  CHECK(clip.stacks[0].model.mask.causal);
  CHECK(clip.stacks[0].prefix == "text_model.encoder.layers");
  CHECK(clip.stacks[1].model.activation == Activation::quick_gelu);
}

TEST_CASE("decoders with a memory") {
  const Description t5 = described(R"("model_type": "t5", "d_model": 32, "d_kv": 12, "d_ff": 48, "num_heads": 4,
      "num_layers": 2, "num_decoder_layers": 3, "feed_forward_proj": "gated-gelu")");
  REQUIRE(t5.stacks.size() == 2);
  CHECK(t5.stacks[1].attends_memory);
  CHECK(t5.stacks[1].model.layers == 3);
  CHECK(t5.stacks[1].model.memory == 512);
  CHECK(t5.stacks[1].relative_bias.value().buckets.causal);
  CHECK(t5.stacks[0].model.activation == Activation::gelu_tanh);
  CHECK(t5.stacks[0].model.gated);
  CHECK(t5.stacks[0].model.score.scale == 1);
  const Description whisper = described(R"("model_type": "whisper", "max_source_positions": 11, "decoder_layers": 7)");
  CHECK(whisper.stacks[0].model.tokens == 11);
  CHECK(whisper.stacks[1].model.tokens == 448);
  CHECK(whisper.stacks[1].model.memory == 11);
  CHECK(whisper.stacks[1].model.layers == 7);
  CHECK(stack(R"("model_type": "bart", "encoder_ffn_dim": 99)").model.feed_forward == 99);
  CHECK(model(R"("model_type": "marian", "activation_function": "swish")").activation == Activation::silu);
}

TEST_SUITE_END();

}  // namespace ladon::families
