// Tests the names of Hugging Face's families, the cuts of their fused tensors, and the tensors that families lack.
#include <doctest/doctest.h>

#include <bit>
#include <cmath>

#include "packing.hpp"

namespace ladon::weights {
namespace {

using files::Checkpoint, files::counted;
using Floats = std::vector<float>;

// Adds NAME.weight [rows][columns] with the numbers first, first + 1, .., and NAME.bias with first + 0.5, ..
void add_linear(Checkpoint& checkpoint, const std::string& name, std::size_t rows, std::size_t columns, float first) {
  checkpoint.add(name + ".weight", rows, columns, first).add(name + ".bias", rows, first + 0.5f);
}
void add_norm(Checkpoint& checkpoint, const std::string& name, float first) {
  checkpoint.add(name + ".weight", 4, first).add(name + ".bias", 4, first + 0.5f);
}

// Returns the rows of `columns` numbers that begin with each of `first`.
Floats rows_from(const Floats& first, std::size_t columns) {
  Floats values;
  for (const float begin : first)
    for (std::size_t i = 0; i < columns; ++i) values.push_back(begin + static_cast<float>(i));
  return values;
}

const std::string projections_spec =
    "query_proj_weight 4 4\nquery_proj_bias 4\nkey_proj_weight 4 4\nkey_proj_bias 4\nvalue_proj_weight 4 4\n"
    "value_proj_bias 4\n";

void add_projections(Checkpoint& checkpoint, const std::string& before, bool key_bias = true) {
  add_linear(checkpoint, before + "q_proj", 4, 4, 0);
  checkpoint.add(before + "k_proj.weight", 4, 4, 20);
  if (key_bias) checkpoint.add(before + "k_proj.bias", 4, 21);
  add_linear(checkpoint, before + "v_proj", 4, 4, 40);
}

std::string left_out(const Result& result) {
  std::string names;
  for (const std::string& name : result.left_out) names += name + " ";
  return names;
}

}  // namespace

TEST_SUITE_BEGIN("families");

TEST_CASE("gate and up in one tensor, in both orders") {
  const std::string spec = "gate_weight 3 4\nlinear1_weight 3 4\n";
  const auto check = [&](const std::string& name, float gate, float up) {
    const Result result = packed(Checkpoint().add("layers.0." + name + ".weight", 6, 4, 0), spec, "layers.0");
    CHECK(result.values("gate_weight", 12) == counted(12, gate));
    CHECK(result.values("linear1_weight", 12) == counted(12, up));
    CHECK(result.left_out.empty());
  };
  check("mlp.gate_up_proj", 0, 12);  // Phi-3, GLM
  check("mlp.Wi", 0, 12);            // ModernBERT
  check("mlp.weights_in", 0, 12);    // DINOv2
  check("mlp.up_gate_proj", 12, 0);  // GTE
  CHECK(complaint(Checkpoint().add("layers.0.mlp.gate_up_proj.weight", 5, 4, 0), spec, "layers.0")
            .find("expected shape [6,4], found [5,4]") != std::string::npos);
}

TEST_CASE("Moonshine's decoder has gate and up in fc1, and its encoder has only fc1") {
  Checkpoint checkpoint;
  checkpoint.add("layers.0.mlp.fc1.weight", 6, 4, 0).add("layers.0.encoder_attn.o_proj.weight", 4, 4, 0);
  const Result result =
      packed(checkpoint, "cross_attention.out_proj_weight 4 4\ngate_weight 3 4\nlinear1_weight 3 4\n", "layers.0");
  CHECK(result.convention == "Hugging Face Moonshine");
  CHECK(result.values("gate_weight", 12) == counted(12, 12));
  CHECK(result.values("linear1_weight", 12) == counted(12, 0));
  CHECK(packed(checkpoint, "linear1_weight 6 4\n", "layers.0").values("linear1_weight", 24) == counted(24, 0));
}

TEST_CASE("in_proj with a block for each head, as it is, in parts, and as three tensors") {
  Checkpoint checkpoint;  // heads of two features; each head has queries, keys and values
  add_linear(checkpoint, "h.0.attention.query_key_value", 12, 4, 0);
  const std::string heads = "kv_heads 2\n", before = "h.0.attention";
  const Result blocks =
      packed(checkpoint, heads + "in_proj_weight 4+4+4 4 blocks 2\nin_proj_bias 4+4+4 blocks 2\n", before);
  CHECK(blocks.convention == "Hugging Face GPT-NeoX");
  CHECK(blocks.values("in_proj_weight", 48) == counted(48, 0));
  CHECK(blocks.values("in_proj_bias", 12) == counted(12, 0.5f));
  const Result parts = packed(checkpoint, heads + "in_proj_weight 4+4+4 4\nin_proj_bias 4+4+4\n", before);
  CHECK(parts.values("in_proj_weight", 48) == rows_from({0, 4, 24, 28, 8, 12, 32, 36, 16, 20, 40, 44}, 4));
  CHECK(parts.values("in_proj_bias", 12) ==
        Floats{.5f, 1.5f, 6.5f, 7.5f, 2.5f, 3.5f, 8.5f, 9.5f, 4.5f, 5.5f, 10.5f, 11.5f});
  const Result three = packed(checkpoint, heads + projections_spec, before);
  CHECK(three.values("query_proj_weight", 16) == rows_from({0, 4, 24, 28}, 4));
  CHECK(three.values("key_proj_weight", 16) == rows_from({8, 12, 32, 36}, 4));
  CHECK(three.values("value_proj_bias", 4) == Floats{4.5f, 5.5f, 10.5f, 11.5f});
  CHECK(three.left_out.empty());
  CHECK(!complaint(checkpoint, "in_proj_weight 4+4+4 4 blocks 2\n", before).empty());  // without kv_heads
}

TEST_CASE("Falcon has a block for each key/value head") {
  Checkpoint checkpoint;  // four heads of one feature share two key/value heads
  checkpoint.add("h.0.self_attention.query_key_value.weight", 8, 1, 0);
  checkpoint.add("h.0.ln_attn.weight", 4, 0).add("h.0.ln_mlp.weight", 4, 10);
  const Result result =
      packed(checkpoint, "kv_heads 2\nattention.in_proj_weight 4+2+2 1\nnorm1_weight 4\nnorm2_weight 4\n", "h.0");
  CHECK(result.values("attention_in_proj_weight", 8) == Floats{0, 1, 4, 5, 2, 6, 3, 7});
  CHECK(result.values("norm2_weight", 4) == counted(4, 10));
}

TEST_CASE("CodeGen has four blocks of queries, values and keys") {
  Checkpoint checkpoint;
  checkpoint.add("h.0.attn.qkv_proj.weight", 12, 1, 0);
  const Result result = packed(checkpoint, "kv_heads 4\nin_proj_weight 4+4+4 1\n", "h.0.attn");
  CHECK(result.values("in_proj_weight", 12) == Floats{0, 3, 6, 9, 2, 5, 8, 11, 1, 4, 7, 10});
  CHECK(packed(checkpoint, "in_proj_weight 4+4+4 1 blocks 4 values_first\n", "h.0.attn").values("in_proj_weight", 12) ==
        counted(12, 0));
}

TEST_CASE("in_proj in blocks is made of three tensors") {
  Checkpoint checkpoint;
  add_projections(checkpoint, "");
  const Result result = packed(checkpoint, "in_proj_weight 4+4+4 4 blocks 2\n", "");
  CHECK(result.values("in_proj_weight", 48) == rows_from({0, 4, 20, 24, 40, 44, 8, 12, 28, 32, 48, 52}, 4));
}

TEST_CASE("GPT-2's matrices are (in, out), and GPT-BigCode's are (out, in)") {
  Checkpoint gpt2;
  gpt2.add("h.0.attn.c_attn.weight", 2, 6, 0).add("h.0.attn.c_attn.bias", 6, 0).add("h.0.mlp.c_fc.weight", 2, 3, 0);
  const std::string as_it_is = "attention.in_proj_weight 2+2+2 2 in_out\nlinear1_weight 3 2 in_out\n";
  const Result result = packed(gpt2, as_it_is + "attention.in_proj_bias 2+2+2\n", "h.0");
  CHECK(result.convention == "Hugging Face GPT-2");
  CHECK(result.values("attention_in_proj_weight", 12) == counted(12, 0));
  CHECK(result.values("linear1_weight", 6) == counted(6, 0));
  const Result turned = packed(gpt2,
                               "kv_heads 1\nattention.key_proj_weight 2 2\nattention.query_proj_weight 2 2\n"
                               "attention.value_proj_weight 2 2\nlinear1_weight 3 2\n",
                               "h.0");
  CHECK(turned.values("attention_key_proj_weight", 4) == Floats{2, 8, 3, 9});
  CHECK(turned.values("linear1_weight", 6) == Floats{0, 3, 1, 4, 2, 5});
  const Result int8 = packed(gpt2, "linear1_weight 3 2 int8\n", "h.0");
  CHECK(int8.values("linear1_weight_scale", 3) == Floats{3 / 127.0f, 4 / 127.0f, 5 / 127.0f});

  Checkpoint bigcode;  // one key/value head
  bigcode.add("h.0.attn.c_attn.weight", 4, 2, 0).add("h.0.mlp.c_fc.weight", 3, 2, 0);
  const Result other =
      packed(bigcode, "kv_heads 1\nattention.in_proj_weight 2+1+1 2 in_out\nlinear1_weight 3 2\n", "h.0");
  CHECK(other.convention == "Hugging Face GPT-BigCode");
  CHECK(other.values("attention_in_proj_weight", 8) == Floats{0, 2, 4, 6, 1, 3, 5, 7});
  CHECK(other.values("linear1_weight", 6) == counted(6, 0));
}

TEST_CASE("Whisper's keys have no bias; a missing bias of BART is an error") {
  const auto layers = [](bool first, bool second) {
    Checkpoint checkpoint;
    add_projections(checkpoint, "layers.0.self_attn.", first);
    add_projections(checkpoint, "layers.1.self_attn.", second);
    return checkpoint;
  };
  std::string spec;
  for (const std::string layer : {"layers.0.attention.", "layers.1.attention."})
    spec += layer + "in_proj_weight 4+4+4 4\n" + layer + "in_proj_bias 4+4+4\n";
  const Result result = packed(layers(false, false), spec, "layers");
  CHECK(result.convention == "Hugging Face Whisper");
  CHECK(result.values("layers_1_attention_in_proj_bias", 12) ==
        Floats{.5f, 1.5f, 2.5f, 3.5f, 0, 0, 0, 0, 40.5f, 41.5f, 42.5f, 43.5f});
  CHECK(complaint(layers(true, false), spec, "layers").find(R"(nor "layers.1.self_attn.k_proj.bias")") !=
        std::string::npos);
  CHECK(complaint(layers(false, true), spec, "layers")
            .find(R"(expected no "layers.1.self_attn.k_proj.bias", which Hugging Face Whisper lacks)") !=
        std::string::npos);
}

TEST_CASE("absent gains are ones, only in families without gains") {
  Checkpoint checkpoint;
  checkpoint.add("layers.0.mlp.gate_proj.weight", 3, 4, 0);
  const std::string spec = "gate_weight 3 4\nnorm1_weight 4\nnorm1_bias 4\n";
  const Result result = packed(checkpoint, spec, "layers.0");
  CHECK(result.convention == "Hugging Face OLMo");
  CHECK(result.values("norm1_weight", 4) == Floats{1, 1, 1, 1});
  CHECK(result.values("norm1_bias", 4) == Floats{0, 0, 0, 0});
  checkpoint.add("layers.0.input_layernorm.weight", 4, 0);
  CHECK(complaint(checkpoint, spec, "layers.0").find(R"(norm1_bias: there is no "layers.0.input_layernorm.bias")") !=
        std::string::npos);
}

TEST_CASE("ModernBERT's layer 0 has no first norm") {
  Checkpoint checkpoint;
  for (const std::string layer : {"layers.0.", "layers.1."}) checkpoint.add(layer + "mlp_norm.weight", 4, 0);
  checkpoint.add("layers.1.attn_norm.weight", 4, 10);
  const std::string spec = "layers.0.norm1_weight 4\nlayers.0.norm2_weight 4\nlayers.1.norm1_weight 4\n";
  const Result result = packed(checkpoint, spec, "layers");
  CHECK(result.values("layers_0_norm1_weight", 4) == Floats{1, 1, 1, 1});
  CHECK(result.values("layers_1_norm1_weight", 4) == counted(4, 10));
  CHECK(complaint(checkpoint, spec + "layers.2.norm1_weight 4\n", "layers").find(R"(no "layers.2.attn_norm.weight")") !=
        std::string::npos);
}

TEST_CASE("ALBERT's layers share sets of weights") {
  Checkpoint checkpoint;
  for (const int set : {0, 1})
    for (const int layer : {0, 1})
      checkpoint.add("groups." + std::to_string(set) + ".albert_layers." + std::to_string(layer) + ".ffn.bias", 3,
                     static_cast<float>(10 * set + layer));
  std::string spec;
  for (int layer = 0; layer < 8; ++layer) spec += "layers." + std::to_string(layer) + ".linear1_bias 3\n";
  const Result result = packed(checkpoint, spec, "groups");
  const Floats expected{0, 1, 0, 1, 10, 11, 10, 11};
  for (std::size_t layer = 0; layer < 8; ++layer)
    CHECK(result.values("layers_" + std::to_string(layer) + "_linear1_bias", 3) == counted(3, expected[layer]));
  CHECK(result.left_out.empty());
}

TEST_CASE("a last norm outside the parent of the layers") {
  for (const auto& [norm, first] : {std::pair{"layernorm", "layernorm_before"}, {"final_layer_norm", "layer_norm1"}}) {
    Checkpoint checkpoint;
    add_norm(checkpoint, std::string("m.encoder.layer.0.") + first, 0);
    add_norm(checkpoint, std::string("m.") + norm, 10);
    const std::string spec = "layers.0.norm1_weight 4\nlayers.0.norm1_bias 4\n";
    const Result result = packed(checkpoint, spec + "norm_weight 4\nnorm_bias 4\n", "m.encoder.layer");
    CHECK(result.values("norm_weight", 4) == counted(4, 10));
    CHECK(result.left_out.empty());
    CHECK(left_out(packed(checkpoint, spec, "m.encoder.layer")) ==
          std::string("m.") + norm + ".weight m." + norm + ".bias ");
  }
}

TEST_CASE("CLIP's post_layernorm is the last norm, or only that of the pooled output") {
  Checkpoint checkpoint;
  add_norm(checkpoint, "encoder.layers.0.layer_norm1", 0);
  add_norm(checkpoint, "post_layernorm", 10);
  const std::string spec = "layers.0.norm1_weight 4\nlayers.0.norm1_bias 4\n";
  CHECK(packed(checkpoint, spec, "encoder.layers").left_out.empty());
  CHECK(packed(checkpoint, spec + "norm_weight 4\n", "encoder.layers").values("norm_weight", 4) == counted(4, 10));
}

TEST_CASE("wav2vec2's layer_norm is the last norm or stands before the layers") {
  Checkpoint checkpoint;
  add_norm(checkpoint, "encoder.layers.0.layer_norm", 0);
  add_norm(checkpoint, "encoder.layer_norm", 10);
  checkpoint.add("encoder.layers.0.feed_forward.output_dense.weight", 4, 3, 0);
  const std::string spec = "layers.0.norm1_weight 4\nlayers.0.norm1_bias 4\nlayers.0.linear2_weight 4 3\n";
  CHECK(packed(checkpoint, spec, "encoder.layers").left_out.empty());
  CHECK(packed(checkpoint, spec + "norm_weight 4\n", "encoder.layers").values("norm_weight", 4) == counted(4, 10));
}

TEST_CASE("decoders of BART and T5") {
  const std::string spec =
      "self_attention.query_proj_weight 4 4\ncross_attention.query_proj_weight 4 4\nlinear1_weight 3 4\nnorm1_weight "
      "4\n"
      "norm2_weight 4\nnorm3_weight 4\n";
  const auto check = [&](const std::array<std::string, 6>& names) {
    Checkpoint checkpoint;
    checkpoint.add("d.0." + names[0], 4, 4, 0).add("d.0." + names[1], 4, 4, 20).add("d.0." + names[2], 3, 4, 40);
    for (std::size_t i = 3; i < 6; ++i) checkpoint.add("d.0." + names[i], 4, static_cast<float>(20 * i));
    const Result result = packed(checkpoint, spec, "d.0");
    CHECK(result.values("self_attention_query_proj_weight", 16) == counted(16, 0));
    CHECK(result.values("cross_attention_query_proj_weight", 16) == counted(16, 20));
    CHECK(result.values("linear1_weight", 12) == counted(12, 40));
    for (std::size_t norm = 1; norm <= 3; ++norm)
      CHECK(result.values("norm" + std::to_string(norm) + "_weight", 4) ==
            counted(4, static_cast<float>(20 * norm + 40)));
    CHECK(result.left_out.empty());
  };
  check({"self_attn.q_proj.weight", "encoder_attn.q_proj.weight", "fc1.weight", "self_attn_layer_norm.weight",
         "encoder_attn_layer_norm.weight", "final_layer_norm.weight"});
  check({"layer.0.SelfAttention.q.weight", "layer.1.EncDecAttention.q.weight", "layer.2.DenseReluDense.wi.weight",
         "layer.0.layer_norm.weight", "layer.1.layer_norm.weight", "layer.2.layer_norm.weight"});
}

TEST_CASE("norms before, after, and before and after sublayers") {
  const auto check = [](const std::vector<std::string>& roles, const std::vector<std::string>& names) {
    Checkpoint checkpoint;
    std::string spec;
    for (std::size_t i = 0; i < roles.size(); ++i) {
      const std::string ending = roles[i].starts_with("scale") ? "" : "weight";
      checkpoint.add("layers.0." + names[i] + (ending.empty() ? "" : "." + ending), 4, static_cast<float>(10 * i));
      spec += roles[i] + (ending.empty() ? "" : "_" + ending) + " 4\n";
    }
    const Result result = packed(checkpoint, spec, "layers.0");
    for (std::size_t i = 0; i < roles.size(); ++i)
      CHECK(result.values(roles[i] + (roles[i].starts_with("scale") ? "" : "_weight"), 4) ==
            counted(4, static_cast<float>(10 * i)));
    CHECK(result.left_out.empty());
  };
  const std::vector<std::string> two{"norm1", "norm2"}, four{"norm1", "output_norm1", "norm2", "output_norm2"};
  check(two, {"input_layernorm", "post_attention_layernorm"});
  check(two, {"post_attention_layernorm", "post_feedforward_layernorm"});  // OLMo 2, EXAONE 4
  check(four,
        {"input_layernorm", "post_attention_layernorm", "pre_feedforward_layernorm", "post_feedforward_layernorm"});
  check(four, {"pre_self_attn_layernorm", "post_self_attn_layernorm", "pre_feedforward_layernorm",
               "post_feedforward_layernorm"});
  check(four, {"input_layernorm", "post_self_attn_layernorm", "post_attention_layernorm", "post_mlp_layernorm"});
  check({"norm1", "scale1", "norm2", "scale2"}, {"norm1", "layer_scale1.lambda1", "norm2", "layer_scale2.lambda1"});
  check({"norm1", "scale1", "norm2", "scale2"}, {"layernorm_before", "lambda_1", "layernorm_after", "lambda_2"});
}

TEST_CASE("xIELU's two numbers are computed for the activation") {
  const auto bfloat16 = [](float value) {
    const auto bits = static_cast<std::uint16_t>(std::bit_cast<std::uint32_t>(value) >> 16);
    return std::string(reinterpret_cast<const char*>(&bits), sizeof(bits));
  };
  Checkpoint checkpoint;
  checkpoint.add("layers.0.mlp.act_fn.alpha_p", "BF16", "[1]", bfloat16(1));
  checkpoint.add("layers.0.mlp.act_fn.alpha_n", "BF16", "[]", bfloat16(-2));
  checkpoint.add("layers.0.mlp.act_fn.beta", "BF16", "[]", bfloat16(0.5f));
  const Result result = packed(checkpoint, "activation 2\n", "layers.0");
  const Floats values = result.values("activation", 2);
  CHECK(values[0] == doctest::Approx(std::log1p(std::exp(1.0))).epsilon(1e-6));
  CHECK(values[1] == doctest::Approx(0.5 + std::log1p(std::exp(-2.0))).epsilon(1e-6));
  CHECK(result.left_out.empty());
}

TEST_CASE("norms of queries and keys: one tensor, a row for each head, or a tensor for each head") {
  const std::string spec =
      "kv_heads 1\nattention.query_norm_weight 4\nattention.key_norm_weight 2\nlinear1_weight 3 4\n";
  const auto check = [&](const Checkpoint& checkpoint) {
    const Result result = packed(checkpoint, spec, "layers.0");
    CHECK(result.values("attention_query_norm_weight", 4) == counted(4, 0));
    CHECK(result.values("attention_key_norm_weight", 2) == counted(2, 10));
    CHECK(result.left_out.empty());
  };
  const std::string attention = "layers.0.self_attn.";
  const auto base = [] { return Checkpoint().add("layers.0.mlp.up_proj.weight", 3, 4, 0); };
  check(base().add(attention + "q_norm.weight", 4, 0).add(attention + "k_norm.weight", 2, 10));        // OLMo 2
  check(base().add(attention + "q_norm.weight", 2, 2, 0).add(attention + "k_norm.weight", 1, 2, 10));  // Cohere
  check(base()
            .add(attention + "q_layernorm.norms.0.weight", 2, 0)
            .add(attention + "q_layernorm.norms.1.weight", 2, 2)
            .add(attention + "k_layernorm.norms.0.weight", 2, 10));  // StableLM
  CHECK(complaint(base().add(attention + "q_norm.weight", 2, 3, 0).add(attention + "k_norm.weight", 2, 10), spec,
                  "layers.0")
            .find("expected shape [4], found [2,3]") != std::string::npos);
}

TEST_CASE("TimesFM's factors multiply the rows of the queries") {
  Checkpoint checkpoint;
  checkpoint.add("layers.0.self_attn.q_proj.weight", 4, 2, 1).add("layers.0.self_attn.scaling", 2, 0);
  checkpoint.add("layers.0.self_attn.q_proj.bias", 4, 1).add("layers.0.mlp.layer_norm.weight", 4, 0);
  const Result result =
      packed(checkpoint, "attention.query_proj_weight 4 2\nattention.query_proj_bias 4\nnorm2_weight 4\n", "layers.0");
  CHECK(result.convention == "Hugging Face TimesFM");
  const Floats weight = result.values("attention_query_proj_weight", 8),
               bias = result.values("attention_query_proj_bias", 4);
  for (std::size_t i = 0; i < 8; ++i) {
    const double x = i / 2 % 2 == 0 ? 0 : 1, factor = std::log1p(std::exp(x)) / std::log(2) / std::sqrt(2);
    CHECK(weight[i] == doctest::Approx((static_cast<double>(i) + 1) * factor).epsilon(1e-6));
    if (i % 2 == 0) CHECK(bias[i / 2] == doctest::Approx((static_cast<double>(i / 2) + 1) * factor).epsilon(1e-6));
  }
  CHECK(result.left_out.empty());
}

TEST_CASE("names of wrappers may be left out of the prefix, or given in vain") {
  for (const std::string before : {"", "model.", "module.", "_orig_mod.", "base_model.model.",
                                   "module._orig_mod.model.", "language_model.model."}) {
    Checkpoint checkpoint;
    add_llama_attention(checkpoint, before + "layers.0.self_attn.");
    for (const std::string prefix : {"", "model.", "_orig_mod.", "base_model.model.model.", "model.language_model."}) {
      CAPTURE(before);
      CAPTURE(prefix);
      check_separate_attention(packed(checkpoint, separate_spec, prefix + "layers.0.self_attn"));
    }
  }
  Checkpoint two;
  add_llama_attention(two, "model.layers.0.self_attn.");
  add_llama_attention(two, "module.layers.0.self_attn.");
  CHECK(complaint(two, separate_spec, "layers.0.self_attn")
            .ends_with(R"(such tensors are below prefix "model.layers.0.self_attn", "module.layers.0.self_attn")"));
}

TEST_CASE("old files have tables of rotary angles and causal masks") {
  Checkpoint checkpoint;
  add_llama_attention(checkpoint, "self_attn.");
  checkpoint.add("self_attn.rotary_emb.inv_freq", 2, 0);
  CHECK(packed(checkpoint, separate_spec, "self_attn").left_out.empty());
}

TEST_SUITE_END();

}  // namespace ladon::weights
