// Tests that the tensors of an attention are found by the names that each kind of checkpoint uses. Some checkpoints
// have one in_proj, and others have separate projections of queries, keys and values.
#include <doctest/doctest.h>

#include "packing.hpp"

namespace ladon::weights {

using files::Checkpoint, files::counted;

TEST_SUITE_BEGIN("names");

TEST_CASE("PyTorch's attention, packed and separate") {
  Checkpoint checkpoint;
  add_pytorch_attention(checkpoint, "encoder.self_attn.");
  const Result result = packed(checkpoint, in_proj_spec, "encoder.self_attn");
  check_packed_attention(result);
  CHECK(result.convention == "PyTorch");
  CHECK(result.left_out.empty());
  check_separate_attention(packed(checkpoint, separate_spec, "encoder.self_attn"));
}

TEST_CASE("BERT's attention, packed and separate") {
  Checkpoint checkpoint;
  add_bert_attention(checkpoint, "encoder.layer.0.attention.");
  checkpoint.add("encoder.layer.0.attention.output.LayerNorm.weight", 4, 1);
  const Result result = packed(checkpoint, in_proj_spec, "encoder.layer.0.attention");
  check_packed_attention(result);
  CHECK(result.convention == "Hugging Face BERT");
  CHECK(result.left_out.empty());  // lists unused tensors of the attention; the norm is not one
  check_separate_attention(packed(checkpoint, separate_spec, "encoder.layer.0.attention"));
}

TEST_CASE("Llama's attention, packed and separate") {
  Checkpoint checkpoint;
  add_llama_attention(checkpoint, "model.layers.0.self_attn.");
  const Result result = packed(checkpoint, in_proj_spec, "model.layers.0.self_attn");
  check_packed_attention(result);
  CHECK(result.convention == "Hugging Face Llama");
  check_separate_attention(packed(checkpoint, separate_spec, "model.layers.0.self_attn"));
}

TEST_CASE("PyTorch's attention with kdim and vdim has separate weights and one tensor of biases") {
  Checkpoint checkpoint;
  checkpoint.add("q_proj_weight", 4, 4, 0).add("k_proj_weight", 4, 3, 20).add("v_proj_weight", 4, 5, 40);
  checkpoint.add("in_proj_bias", 12, 100).add("out_proj.weight", 4, 4, 200).add("out_proj.bias", 4, 300);
  const Result result = packed(checkpoint,
                               "query_proj_weight 4 4\nkey_proj_weight 4 3\nvalue_proj_weight 4 5\nquery_proj_bias 4\n"
                               "key_proj_bias 4\nvalue_proj_bias 4\nout_proj_weight 4 4\nout_proj_bias 4\n",
                               "");
  CHECK(result.values("query_proj_weight", 16) == counted(16, 0));
  CHECK(result.values("key_proj_weight", 12) == counted(12, 20));
  CHECK(result.values("value_proj_weight", 20) == counted(20, 40));
  CHECK(result.values("query_proj_bias", 4) == counted(4, 100));
  CHECK(result.values("key_proj_bias", 4) == counted(4, 104));
  CHECK(result.values("value_proj_bias", 4) == counted(4, 108));
}

TEST_CASE("a file may contain only one attention") {
  Checkpoint checkpoint;
  add_pytorch_attention(checkpoint, "");
  check_packed_attention(packed(checkpoint, in_proj_spec, ""));
}

TEST_CASE("a prefix matches only whole parts of names") {
  Checkpoint checkpoint;
  add_pytorch_attention(checkpoint, "encoder.layers.1.self_attn.");
  add_pytorch_attention(checkpoint, "encoder.layers.10.self_attn.");
  CHECK(packed(checkpoint, in_proj_spec, "encoder.layers.1.self_attn").left_out.empty());
}

TEST_CASE("a bias that the kernel does not take is reported") {
  Checkpoint checkpoint;
  add_pytorch_attention(checkpoint, "a.");
  const Result result = packed(checkpoint, "in_proj_weight 4+2+2 4\nout_proj_weight 4 4\n", "a");
  CHECK(result.left_out == std::vector<std::string>{"a.in_proj_bias", "a.out_proj.bias"});
}

TEST_CASE("each tensor begins at a multiple of 64 bytes, after zeros, and the header states its position") {
  Checkpoint checkpoint;
  add_pytorch_attention(checkpoint, "a.b.");
  const Result result = packed(checkpoint, in_proj_spec, "a.b");
  CHECK(result.packed.offsets ==
        "// Made by ladon-weights from \"m.safetensors\", prefix \"a.b\", with the tensor names of PyTorch.\n"
        "// The offset of each tensor in the data, in elements of the tensor.\n"
        "#pragma once\n\nnamespace some::weights {\n\n"
        "inline constexpr unsigned long in_proj_weight = 0;\n"
        "inline constexpr unsigned long in_proj_bias = 32;\n"
        "inline constexpr unsigned long out_proj_weight = 48;\n"
        "inline constexpr unsigned long out_proj_bias = 64;\n"
        "inline constexpr unsigned long floats = 68;\n"
        "\n}  // namespace some::weights\n");
  CHECK(result.packed.data == files::floats(counted(32, 0)) + files::floats(counted(8, 100)) + std::string(32, '\0') +
                                  files::floats(counted(16, 200)) + files::floats(counted(4, 300)));
}

TEST_CASE("nothing in a prefix can end the header's comment") {
  Checkpoint checkpoint;
  add_pytorch_attention(checkpoint, R"(a\nb\\.)");
  const Result result = packed(checkpoint, in_proj_spec, "a\nb\\");
  CHECK(result.packed.offsets.find(R"(prefix "a\nb\\")") != std::string::npos);
}

TEST_SUITE_END();

}  // namespace ladon::weights
