// Tests the error messages for checkpoints that do not fit the kernel.
#include <doctest/doctest.h>

#include <ctime>

#include "packing.hpp"

namespace ladon::weights {
namespace {

using files::Checkpoint;

Checkpoint bert(const std::string& before = "encoder.layer.0.attention.") {
  Checkpoint checkpoint;
  add_bert_attention(checkpoint, before);
  return checkpoint;
}

}  // namespace

TEST_SUITE_BEGIN("messages");

TEST_CASE("one message lists all missing and wrong tensors") {
  Checkpoint checkpoint;
  checkpoint.add("a.self.query.weight", 4, 4, 0).add("a.self.query.bias", 4, 0);
  checkpoint.add("a.self.value.weight", 4, 2, 0).add("a.self.value.bias", 3, 0);
  checkpoint.add("a.self.key.bias", "I8", "[2]", "12").add("a.output.dense.weight", 4, 5, 0);
  CHECK(complaint(checkpoint, in_proj_spec, "a") ==
        "m.safetensors: is not what the kernel needs\n"
        "  in_proj_weight: there is no \"a.self.key.weight\"\n"
        "  in_proj_bias: tensor \"a.self.key.bias\": expected dtype F32, F16 or BF16, found \"I8\"\n"
        "  in_proj_bias: tensor \"a.self.value.bias\": expected shape [2], found [3]\n"
        "  out_proj_weight: tensor \"a.output.dense.weight\": expected shape [4,4], found [4,5]\n"
        "  out_proj_bias: there is no \"a.output.dense.bias\"");
}

TEST_CASE("the message lists every name that was tried") {
  Checkpoint checkpoint;
  checkpoint.add("in_proj_bias", 8, 0).add("out_proj.weight", 4, 4, 0).add("out_proj.bias", 4, 0);
  CHECK(
      complaint(checkpoint, in_proj_spec, "") ==
      "m.safetensors: is not what the kernel needs\n"
      "  in_proj_weight: there is no \"in_proj_weight\", nor \"q_proj_weight\", \"k_proj_weight\", \"v_proj_weight\"");
  checkpoint.add("q_proj_weight", 4, 4, 0).add("k_proj_weight", 2, 4, 0);
  CHECK(complaint(checkpoint, separate_spec, "") ==
        "m.safetensors: is not what the kernel needs\n"
        "  value_proj_weight: there is no \"v_proj_weight\", nor \"in_proj_weight\"");
}

TEST_CASE("queries, keys or values are read only from a tensor that has all three parts") {
  Checkpoint checkpoint;
  checkpoint.add("in_proj_weight", 12, 4, 0).add("in_proj_bias", 8, 0);
  checkpoint.add("out_proj.weight", 4, 4, 0).add("out_proj.bias", 4, 0);
  CHECK(complaint(checkpoint, separate_spec, "") ==
        "m.safetensors: is not what the kernel needs\n"
        "  query_proj_weight: tensor \"in_proj_weight\": expected shape [8,4], found [12,4]\n"
        "  key_proj_weight: tensor \"in_proj_weight\": expected shape [8,4], found [12,4]\n"
        "  value_proj_weight: tensor \"in_proj_weight\": expected shape [8,4], found [12,4]");
}

TEST_CASE("the message says that a tensor is transposed") {
  Checkpoint checkpoint;
  add_pytorch_attention(checkpoint, "self_attn.");
  checkpoint.add("linear1.weight", 4, 3, 0);
  CHECK(complaint(checkpoint, "attention.out_proj_bias 4\nlinear1_weight 3 4\n", "") ==
        "m.safetensors: is not what the kernel needs\n"
        "  linear1_weight: tensor \"linear1.weight\": expected shape [3,4], found [4,3], transposed");
}

TEST_CASE("the message says that a tensor's number of bytes does not fit its shape") {
  Checkpoint checkpoint;
  checkpoint.add("out_proj.bias", "F32", "[4]", std::string(12, '\0'));
  CHECK(complaint(checkpoint, "out_proj_bias 4\n", "") ==
        "m.safetensors: is not what the kernel needs\n"
        "  out_proj_bias: tensor \"out_proj.bias\": expected 16 bytes of data, found 12");
}

TEST_CASE("the message says that a kind of checkpoint has no name for a member") {
  CHECK(complaint(bert("layer.0.attention."), "layers.0.attention.out_proj_bias 4\nnorm_bias 4\n", "layer") ==
        "m.safetensors: is not what the kernel needs\n"
        "  norm_bias: there is no such tensor among the names of Hugging Face BERT");
}

TEST_CASE("a wrong prefix gives one line, and a second line names the prefix of such tensors") {
  CHECK(complaint(bert(), in_proj_spec, "encoder.layers.0.attention") ==
        "m.safetensors: is not what the kernel needs\n"
        "  in_proj_weight and all others: nothing below prefix \"encoder.layers.0.attention\"; tried "
        "\"encoder.layers.0.attention.in_proj_weight\" (PyTorch), "
        "\"encoder.layers.0.attention.self.query.weight\" (Hugging Face BERT), "
        "\"encoder.layers.0.attention.qkv_proj.weight\" (Hugging Face Llama) and the names of 34 other families\n"
        "  such tensors are below prefix \"encoder.layer.0.attention\"");
}

TEST_CASE("prefixes are suggested for layers and for stacks, too, also if some of their tensors are missing") {
  Checkpoint checkpoint = bert();
  checkpoint.add("encoder.layer.0.output.dense.bias", 4, 0);
  const auto suggested = [&](const std::string& spec, const std::string& prefix) {
    const std::string text = complaint(checkpoint, spec, prefix);
    return text.substr(text.rfind("\n  ") + 3);
  };
  const std::string layer = "attention.in_proj_bias 4+2+2\nlinear2_bias 4\n";
  CHECK(suggested(layer, "encoder.layer.0.attention") == "such tensors are below prefix \"encoder.layer.0\"");
  CHECK(suggested("layers.0." + layer.substr(0, layer.find('l')), "encoder") ==
        "such tensors are below prefix \"encoder.layer\"");
  CHECK(suggested(in_proj_spec, "encoder.layer.0") == "such tensors are below prefix \"encoder.layer.0.attention\"");
  CHECK(suggested(in_proj_spec, "") == "such tensors are below prefix \"encoder.layer.0.attention\"");
}

TEST_CASE("of the prefixes with the most members, the most similar are suggested") {
  Checkpoint checkpoint;
  for (int layer = 0; layer < 8; ++layer)
    add_bert_attention(checkpoint, "encoder.layer." + std::to_string(layer) + ".attention.");
  checkpoint.add("encoder.layers.7.attention.self.query.bias", 4, 0);
  const std::string text = complaint(checkpoint, in_proj_spec, "encoder.layers.7.attention");
  CHECK(
      text.ends_with("such tensors are below prefix \"encoder.layer.7.attention\", \"encoder.layer.0.attention\", "
                     "\"encoder.layer.1.attention\", \"encoder.layer.2.attention\", \"encoder.layer.3.attention\" "
                     "and 3 more"));
}

TEST_CASE("suggestions take time in proportion to the names") {
  Checkpoint checkpoint;
  std::string dots;
  for (int i = 0; i < 500'000; ++i) dots += "a.";
  checkpoint.add(dots + "out_proj.bias", 4, 0);
  for (int i = 0; i < 5'000; ++i) checkpoint.add("p" + std::to_string(i) + ".out_proj.bias", 4, 0);
  add_pytorch_attention(checkpoint, "right.");
  const std::clock_t start = std::clock();
  const std::string text = complaint(checkpoint, in_proj_spec, "wrong");
  CHECK(static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC < 10);  // a quadratic search would take a minute
  CHECK(text.ends_with("such tensors are below prefix \"right\""));
}

TEST_CASE("without a similar prefix, nothing is suggested") {
  Checkpoint checkpoint;
  checkpoint.add("embeddings", 4, 0);
  CHECK(complaint(checkpoint, in_proj_spec, "encoder").find("such tensors") == std::string::npos);
  CHECK(complaint(checkpoint, in_proj_spec, "encoder").find("nothing below prefix \"encoder\"") != std::string::npos);
}

TEST_CASE("the message says that nothing is below a prefix only if this is true") {
  Checkpoint checkpoint;
  checkpoint.add("a.other", 4, 0).add("ab", 4, 0).add("c", 4, 0);
  const auto below = [&](const std::string& prefix) { return complaint(checkpoint, in_proj_spec, prefix); };
  CHECK(below("a").find("no tensor below prefix \"a\" has a name that is searched; the first is \"a.other\"") !=
        std::string::npos);
  CHECK(below("").find("no tensor below prefix \"\" has a name that is searched; the first is \"a.other\"") !=
        std::string::npos);
  for (const std::string prefix : {"c", "d", "a.o"})
    CHECK(below(prefix).find("nothing below prefix \"" + prefix + "\"; tried") != std::string::npos);
  CHECK(packed(bert(), in_proj_spec, "encoder.layer.0.attention.").left_out.empty());
}

TEST_CASE("names from a file cannot control the terminal") {
  Checkpoint checkpoint = bert(R"(\u001b[2J.)");
  CHECK(complaint(checkpoint, in_proj_spec, "").ends_with(R"(such tensors are below prefix "\u001b[2J")"));
}

TEST_SUITE_END();

}  // namespace ladon::weights
