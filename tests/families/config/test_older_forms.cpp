// SPDX-License-Identifier: Apache-2.0
// Tests config.json files of earlier versions of transformers.
#include "describing.hpp"

namespace ladon::families {

TEST_SUITE_BEGIN("older_forms");

TEST_CASE("rope_theta and rope_scaling") {
  const Rotary plain = stack(small("llama", R"("rope_theta": 500000.0, "rope_scaling": null)")).rotary[0];
  CHECK(plain.scaling.kind == RotaryKind::none);
  CHECK(plain.scaling.base == 500000);
  const RotaryScaling linear =
      stack(small("llama", R"("rope_theta": 1e6, "rope_scaling": {"type": "linear", "factor": 2.0})"))
          .rotary[0]
          .scaling;
  CHECK(linear.kind == RotaryKind::linear);
  CHECK(linear.base == 1e6);
  CHECK(linear.factor == 2);
  const RotaryScaling dynamic =
      stack(small("falcon", R"("rope_scaling": {"type": "dynamic", "factor": 2})")).rotary[0].scaling;
  CHECK(dynamic.original_positions == 64);
  const Rotary phi3 = stack(small("phi3", R"("original_max_position_embeddings": 64,
      "rope_scaling": {"type": "su", "short_factor": [1, 2, 3, 4], "long_factor": [5, 6, 7, 8]})")
                                .substr(0))
                          .rotary[0];
  CHECK(phi3.scaling.kind == RotaryKind::longrope);
}

TEST_CASE("GPT-NeoX: rotary_pct and rotary_emb_base") {
  const Stack neox = stack(small("gpt_neox", R"("rotary_pct": 0.5, "rotary_emb_base": 25000)"));
  CHECK(neox.model.position.width == 4);
  CHECK(neox.rotary[0].scaling.base == 25000);
}

TEST_CASE("Gemma 3: rope_local_base_freq, and a scaling of the layers without a window") {
  const Stack gemma = stack(small("gemma3_text", R"("rope_theta": 1e6, "rope_local_base_freq": 5000.0,
      "sliding_window_pattern": 2, "rope_scaling": {"rope_type": "linear", "factor": 8.0})"));
  REQUIRE(gemma.rotary.size() == 2);
  CHECK(gemma.rotary[0].scaling.base == 5000);
  CHECK(gemma.rotary[0].scaling.kind == RotaryKind::none);
  CHECK(gemma.rotary[1].scaling.factor == 8);
}

TEST_CASE("a model of texts and images has its layers in text_config") {
  const Stack gemma = stack(R"("model_type": "gemma3", "vision_config": {},
      "text_config": {"hidden_size": 2560, "model_type": "gemma3_text", "num_hidden_layers": 34})");
  CHECK(gemma.model.layers == 34);
  CHECK(gemma.model.heads == 8);
  CHECK(gemma.prefix == "layers");
  CHECK(gemma.inside == "language_model.");
}

TEST_CASE("Gemma: hidden_act gelu means the approximation") {
  CHECK(model(small("gemma", R"("hidden_act": "gelu", "hidden_activation": null)")).activation ==
        Activation::gelu_tanh);
}

TEST_CASE("other names of sizes") {
  const Model gpt2 =
      model(R"("model_type": "gpt2", "n_embd": 48, "n_head": 6, "n_layer": 5, "n_positions": 99, "n_inner": null)");
  CHECK(gpt2.model == 48);
  CHECK(gpt2.heads == 6);
  CHECK(gpt2.layers == 5);
  CHECK(gpt2.tokens == 99);
  CHECK(gpt2.feed_forward == 192);
  CHECK(model(R"("model_type": "bloom", "n_embed": 48, "num_attention_heads": 6, "n_layer": 5)").model == 48);
  const Model nomic = model(R"("model_type": "nomic_bert", "n_embd": 48, "n_head": 6, "n_inner": 96, "n_layer": 5,
      "activation_function": "swiglu", "rotary_emb_base": 1000, "rotary_emb_fraction": 1.0)");
  CHECK(nomic.activation == Activation::silu);
  CHECK(nomic.feed_forward == 96);
  CHECK(model(R"("model_type": "lfm2", "block_ff_dim": 12288, "block_multiple_of": 256)").feed_forward == 8192);
}

TEST_SUITE_END();

}  // namespace ladon::families
