// Tests which tensors of a checkpoint become the weights of an encoder layer, and of a stack.
#include <doctest/doctest.h>

#include "packing.hpp"

namespace ladon::weights {
namespace {

using files::Checkpoint, files::counted;

// A SPEC is a text that lists the tensors that a kernel needs. rest_of_layer has the lines of a SPEC for the norms and
// the feed-forward network of a layer. The feed-forward network has three hidden features.
const std::string rest_of_layer =
    "linear1_weight 3 4\nlinear1_bias 3\nlinear2_weight 4 3\nlinear2_bias 4\n"
    "norm1_weight 4\nnorm1_bias 4\nnorm2_weight 4\nnorm2_bias 4\n";

// Returns `lines` with `before` at the beginning of each line.
std::string below(const std::string& before, const std::string& lines) {
  std::string text;
  for (std::size_t at = 0; at < lines.size(); at = lines.find('\n', at) + 1)
    text += before + lines.substr(at, lines.find('\n', at) + 1 - at);
  return text;
}

const std::string layer_spec = below("attention.", in_proj_spec) + rest_of_layer;

void add_pytorch_rest_of_layer(Checkpoint& checkpoint, const std::string& before) {
  checkpoint.add(before + "linear1.weight", 3, 4, 400).add(before + "linear1.bias", 3, 420);
  checkpoint.add(before + "linear2.weight", 4, 3, 440).add(before + "linear2.bias", 4, 460);
  checkpoint.add(before + "norm1.weight", 4, 500).add(before + "norm1.bias", 4, 510);
  checkpoint.add(before + "norm2.weight", 4, 520).add(before + "norm2.bias", 4, 530);
}

void add_pytorch_layer(Checkpoint& checkpoint, const std::string& before) {
  add_pytorch_attention(checkpoint, before + "self_attn.");
  add_pytorch_rest_of_layer(checkpoint, before);
}

void add_bert_layer(Checkpoint& checkpoint, const std::string& before, const std::string& gain = "weight",
                    const std::string& shift = "bias") {
  add_bert_attention(checkpoint, before + "attention.");
  checkpoint.add(before + "intermediate.dense.weight", 3, 4, 400).add(before + "intermediate.dense.bias", 3, 420);
  checkpoint.add(before + "output.dense.weight", 4, 3, 440).add(before + "output.dense.bias", 4, 460);
  checkpoint.add(before + "attention.output.LayerNorm." + gain, 4, 500);
  checkpoint.add(before + "attention.output.LayerNorm." + shift, 4, 510);
  checkpoint.add(before + "output.LayerNorm." + gain, 4, 520).add(before + "output.LayerNorm." + shift, 4, 530);
}

void check_layer(const Result& result, const std::string& before = "") {
  check_packed_attention(result, before + "attention_");
  CHECK(result.values(before + "linear1_weight", 12) == counted(12, 400));
  CHECK(result.values(before + "linear1_bias", 3) == counted(3, 420));
  CHECK(result.values(before + "linear2_weight", 12) == counted(12, 440));
  CHECK(result.values(before + "linear2_bias", 4) == counted(4, 460));
  CHECK(result.values(before + "norm1_weight", 4) == counted(4, 500));
  CHECK(result.values(before + "norm1_bias", 4) == counted(4, 510));
  CHECK(result.values(before + "norm2_weight", 4) == counted(4, 520));
  CHECK(result.values(before + "norm2_bias", 4) == counted(4, 530));
}

}  // namespace

TEST_SUITE_BEGIN("layers");

TEST_CASE("PyTorch's encoder layer") {
  Checkpoint checkpoint;
  add_pytorch_layer(checkpoint, "layers.0.");
  const Result result = packed(checkpoint, layer_spec, "layers.0");
  check_layer(result);
  CHECK(result.left_out.empty());
  check_separate_attention(packed(checkpoint, below("attention.", separate_spec) + rest_of_layer, "layers.0"),
                           "attention_");
}

TEST_CASE("PyTorch's encoder layer with bias=False has no biases at all") {
  Checkpoint checkpoint;
  checkpoint.add("layers.0.self_attn.in_proj_weight", 8, 4, 0).add("layers.0.self_attn.out_proj.weight", 4, 4, 200);
  checkpoint.add("layers.0.linear1.weight", 3, 4, 400).add("layers.0.linear2.weight", 4, 3, 440);
  checkpoint.add("layers.0.norm1.weight", 4, 500).add("layers.0.norm2.weight", 4, 520);
  const Result result = packed(checkpoint,
                               "attention.in_proj_weight 4+2+2 4\nattention.out_proj_weight 4 4\nlinear1_weight 3 4\n"
                               "linear2_weight 4 3\nnorm1_weight 4\nnorm2_weight 4\n",
                               "layers.0");
  CHECK(result.values("norm1_weight", 4) == counted(4, 500));
  CHECK(result.values("norm2_weight", 4) == counted(4, 520));
  CHECK(result.left_out.empty());
  CHECK(complaint(checkpoint, "norm1_weight 4\nnorm1_bias 4\n", "layers.0").find("norm1_bias: there is no") !=
        std::string::npos);
}

TEST_CASE("PyTorch's encoder layer whose attention has a bias only in its output") {
  const auto without_in_proj_bias = [](std::string spec) {
    const std::string line = "in_proj_bias 4+2+2\n";
    return spec.replace(spec.find(line), line.size(), "");
  };
  const std::string spec = below("attention.", without_in_proj_bias(in_proj_spec)) + rest_of_layer;
  Checkpoint complete;
  add_pytorch_layer(complete, "layers.0.");
  CHECK(packed(complete, spec, "layers.0").left_out == std::vector<std::string>{"layers.0.self_attn.in_proj_bias"});

  Checkpoint checkpoint;
  checkpoint.add("layers.0.self_attn.in_proj_weight", 8, 4, 0).add("layers.0.self_attn.out_proj.weight", 4, 4, 200);
  checkpoint.add("layers.0.self_attn.out_proj.bias", 4, 300);
  add_pytorch_rest_of_layer(checkpoint, "layers.0.");
  const Result result = packed(checkpoint, spec, "layers.0");
  CHECK(result.left_out.empty());
  CHECK(result.values("attention_in_proj_weight", 32) == counted(32, 0));
  CHECK(result.values("attention_out_proj_bias", 4) == counted(4, 300));
  CHECK(result.values("linear1_bias", 3) == counted(3, 420));
  CHECK(complaint(checkpoint, layer_spec, "layers.0")
            .find("attention.in_proj_bias: there is no \"layers.0.self_attn.in_proj_bias\"") != std::string::npos);
}

TEST_CASE("PyTorch's decoder layer, and a stack of decoder layers") {
  // Returns the SPEC (the list of needed tensors) of a decoder layer. All names of tensors begin with `before`.
  const auto decoder_spec = [](const std::string& before) {
    return below(before + "self_attention.", in_proj_spec) + below(before + "cross_attention.", in_proj_spec) +
           below(before, rest_of_layer + "norm3_weight 4\nnorm3_bias 4\n");
  };
  const auto check_cross = [](const Result& result, const std::string& before) {
    check_packed_attention(result, before + "self_attention_");
    CHECK(result.values(before + "cross_attention_in_proj_weight", 32) == counted(32, 1000));
    CHECK(result.values(before + "cross_attention_in_proj_bias", 8) == counted(8, 1100));
    CHECK(result.values(before + "cross_attention_out_proj_weight", 16) == counted(16, 1200));
    CHECK(result.values(before + "cross_attention_out_proj_bias", 4) == counted(4, 1300));
    CHECK(result.values(before + "norm3_weight", 4) == counted(4, 540));
    CHECK(result.values(before + "norm3_bias", 4) == counted(4, 550));
    CHECK(result.left_out.empty());
  };
  Checkpoint checkpoint;
  for (const std::string layer : {"decoder.layers.0.", "decoder.layers.1."}) {
    add_pytorch_layer(checkpoint, layer);
    const std::string cross = layer + "multihead_attn.";
    checkpoint.add(cross + "in_proj_weight", 8, 4, 1000).add(cross + "in_proj_bias", 8, 1100);
    checkpoint.add(cross + "out_proj.weight", 4, 4, 1200).add(cross + "out_proj.bias", 4, 1300);
    checkpoint.add(layer + "norm3.weight", 4, 540).add(layer + "norm3.bias", 4, 550);
  }
  check_cross(packed(checkpoint, decoder_spec(""), "decoder.layers.1"), "");
  const std::string stack = decoder_spec("layers.0.") + decoder_spec("layers.1.");
  check_cross(packed(checkpoint, stack, "decoder.layers"), "layers_1_");

  Checkpoint bert;
  add_bert_layer(bert, "layer.0.");
  CHECK(complaint(bert, decoder_spec(""), "layer.0")
            .find("there is no such tensor among the names of Hugging Face BERT") != std::string::npos);
}

TEST_CASE("BERT's layer, with the names of norms in new and in early checkpoints") {
  for (const auto& [gain, shift] : {std::pair{"weight", "bias"}, std::pair{"gamma", "beta"}}) {
    Checkpoint checkpoint;
    add_bert_layer(checkpoint, "bert.encoder.layer.3.", gain, shift);
    const Result result = packed(checkpoint, layer_spec, "bert.encoder.layer.3");
    check_layer(result);
    CHECK(result.left_out.empty());
  }
}

TEST_CASE("Llama's layer has a gate, and norms without a bias") {
  Checkpoint checkpoint;
  add_llama_attention(checkpoint, "model.layers.0.self_attn.");
  checkpoint.add("model.layers.0.mlp.gate_proj.weight", 3, 4, 400).add("model.layers.0.mlp.up_proj.weight", 3, 4, 420);
  checkpoint.add("model.layers.0.mlp.down_proj.weight", 4, 3, 440);
  checkpoint.add("model.layers.0.input_layernorm.weight", 4, 500);
  checkpoint.add("model.layers.0.post_attention_layernorm.weight", 4, 520).add("model.norm.weight", 4, 600);
  const std::string spec = below("attention.", separate_spec) +
                           "gate_weight 3 4\nlinear1_weight 3 4\nlinear2_weight 4 3\nnorm1_weight 4\nnorm2_weight 4\n";
  const Result result = packed(checkpoint, below("layers.0.", spec) + "norm_weight 4\n", "model.layers");
  check_separate_attention(result, "layers_0_attention_");
  CHECK(result.values("layers_0_gate_weight", 12) == counted(12, 400));
  CHECK(result.values("layers_0_linear1_weight", 12) == counted(12, 420));
  CHECK(result.values("layers_0_linear2_weight", 12) == counted(12, 440));
  CHECK(result.values("layers_0_norm1_weight", 4) == counted(4, 500));
  CHECK(result.values("layers_0_norm2_weight", 4) == counted(4, 520));
  CHECK(result.values("norm_weight", 4) == counted(4, 600));
  CHECK(result.left_out.empty());
}

TEST_CASE("a stack's layers are below its prefix, and its last norm is beside them") {
  for (const std::string before : {"", "transformer.encoder."}) {
    CAPTURE(before);
    Checkpoint checkpoint;
    add_pytorch_layer(checkpoint, before + "layers.0.");
    for (const std::string layer : {"1", "10"})
      checkpoint.add(before + "layers." + layer + ".norm1.weight", 4, layer == "1" ? 700 : 800);
    checkpoint.add(before + "norm.weight", 4, 600).add(before + "norm.bias", 4, 610);
    const std::string spec = below("layers.0.", layer_spec) + "layers.10.norm1_weight 4\n";
    const Result result = packed(checkpoint, spec + "norm_weight 4\nnorm_bias 4\n", before + "layers");
    check_layer(result, "layers_0_");
    CHECK(result.values("layers_10_norm1_weight", 4) == counted(4, 800));
    CHECK(result.values("norm_weight", 4) == counted(4, 600));
    CHECK(result.values("norm_bias", 4) == counted(4, 610));
    CHECK(result.left_out == std::vector<std::string>{before + "layers.1.norm1.weight"});
    // The kernel has no last norm, so packing leaves out the last norm of the checkpoint.
    CHECK(packed(checkpoint, spec, before + "layers").left_out ==
          std::vector<std::string>{before + "norm.weight", before + "norm.bias", before + "layers.1.norm1.weight"});
  }
}

TEST_CASE("a part of a F16 tensor is read, also at odd addresses") {
  files::Checkpoint checkpoint;
  const std::string halves("\x00\x3C\x00\x40\x00\x42\x00\x44\x00\x45\x00\x46\x00\x47\x00\x48", 16);  // 1 to 8
  checkpoint.add("one_byte", "I8", "[1]", "x").add("in_proj_bias", "F16", "[8]", halves);
  const Result result = packed(checkpoint, "query_proj_bias 4\nkey_proj_bias 2\nvalue_proj_bias 2\n", "");
  CHECK(result.values("query_proj_bias", 4) == files::counted(4, 1));
  CHECK(result.values("key_proj_bias", 2) == files::counted(2, 5));
  CHECK(result.values("value_proj_bias", 2) == files::counted(2, 7));
}

TEST_SUITE_END();

}  // namespace ladon::weights
