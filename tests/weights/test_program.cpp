// Tests the program ladon-weights. The tests call the program with the arguments that CMake and users give.
#include <doctest/doctest.h>

#ifndef _WIN32  // arguments are quoted for a POSIX shell

#include <algorithm>

#include "packing.hpp"
#include "testing/program.hpp"

namespace ladon::weights {
namespace {

using examples::Answer, examples::check_refused, examples::content_of, examples::has, examples::TemporaryFolder;

Answer run(const std::string& arguments) { return examples::run_in_shell(LADON_WEIGHTS_COMMAND " " + arguments); }

// A folder with a checkpoint, a SPEC (a list of the tensors that a kernel needs), and old output files. A call that
// fails must not change the old files.
struct Scene {
  TemporaryFolder folder;
  std::filesystem::path checkpoint, spec, data, offsets;

  explicit Scene(const std::string& spec_text = in_proj_spec) {
    files::Checkpoint content;
    add_bert_attention(content, "layer.0.attention.");
    checkpoint = folder.file("small.safetensors", content.content());
    spec = folder.file("kernel.spec", spec_text);
    data = folder.file("out.bin", "old data");
    offsets = folder.file("out.h", "old offsets");
  }

  [[nodiscard]] std::string pack(const std::string& prefix) const {
    return "pack '" + checkpoint.string() + "' --prefix '" + prefix + "' --tensors '" + spec.string() + "' --data '" +
           data.string() + "' --offsets '" + offsets.string() + "'";
  }
  void check_untouched() const {
    CHECK(content_of(data) == "old data");
    CHECK(content_of(offsets) == "old offsets");
    CHECK(std::distance(std::filesystem::directory_iterator(folder.path()), {}) == 4);
  }
};

}  // namespace

TEST_SUITE_BEGIN("program");

TEST_CASE("a list of a file's tensors") {
  const TemporaryFolder folder;
  files::Checkpoint checkpoint;
  checkpoint.add("layer.0.weight", 2, 3, 0).add("a", "I64", "[]", "12345678").add(R"(\u001b[2J)", "F16", "[1]", "12");
  const Answer answer = run("list '" + folder.file("m.safetensors", checkpoint.content()).string() + "'");
  CHECK(answer.status == 0);
  CHECK(answer.err.empty());
  CHECK(
      answer.out.starts_with("name            dtype  shape  bytes\n"
                             "\\u001b[2J       F16    [1]        2\n"
                             "a               I64    []         8\n"
                             "layer.0.weight  F32    [2,3]     24\n"));
}

TEST_CASE("a list names tied weights") {
  const examples::TemporaryFolder folder;
  files::Checkpoint checkpoint;
  checkpoint.add("embed_tokens.weight", 2, 2, 1).add("other.weight", 2, 2, 2);
  const auto list = [&] {
    static_cast<void>(folder.file("model.safetensors", checkpoint.content()));
    return run("list '" + folder.path().string() + "'").out;
  };
  CHECK(list().find("tied") == std::string::npos);
  static_cast<void>(folder.file("config.json", R"({"tie_word_embeddings": true})"));
  const auto lists = [&](const std::string& line) { return list().find("\n" + line + "\n") != std::string::npos; };
  CHECK(lists("tied: the file has no head; by tie_word_embeddings of config.json, it is \"embed_tokens.weight\""));
  checkpoint.add("lm_head.weight", 2, 2, 1);
  CHECK(lists("tied: \"lm_head.weight\" is equal to \"embed_tokens.weight\""));
}

TEST_CASE("a list ends with what comes next") {
  const examples::TemporaryFolder folder;
  const auto next = [&](const files::Checkpoint& checkpoint) {
    const std::string out = run("list '" + folder.file("model.safetensors", checkpoint.content()).string() + "'").out;
    const std::size_t begin = out.find("next: ");
    return begin == out.npos ? "" : out.substr(begin);
  };
  const auto add_attention = [](files::Checkpoint& checkpoint, const std::string& prefix) {
    checkpoint.add(prefix + "in_proj_weight", 12, 4, 1).add(prefix + "in_proj_bias", 12, 1);
    checkpoint.add(prefix + "out_proj.weight", 4, 4, 1).add(prefix + "out_proj.bias", 4, 1);
  };
  const auto add_layer = [&](files::Checkpoint& checkpoint, const std::string& prefix) {
    add_attention(checkpoint, prefix + "self_attn.");
    checkpoint.add(prefix + "linear1.weight", 8, 4, 1).add(prefix + "linear1.bias", 8, 1);
    checkpoint.add(prefix + "linear2.weight", 4, 8, 1)
        .add(prefix + "norm1.weight", 4, 1)
        .add(prefix + "norm1.bias", 4, 1);
  };
  const std::string of_layer =
      "      The file cannot tell QUERIES (the largest number of tokens), HEADS, ACTIVATION, NORM, EPSILON, the scale, "
      "rotary embeddings and the mask\n";
  files::Checkpoint stack;
  add_layer(stack, "encoder.layers.0.");
  add_layer(stack, "encoder.layers.1.");
  stack.add("encoder.norm.weight", 4, 1);
  CHECK(
      next(stack) ==
      "next: C++: ladon::safetensors::load<Encoder>(file, \"encoder.layers\")\n"
      "      C:   ladon_add_kernel(NAME QUERIES <n> MODEL 4 HEADS <n> LAYERS 2 FINAL_NORM FEED_FORWARD 8 WEIGHTS FILE "
      "PREFIX \"encoder.layers\") in CMake\n" +
          of_layer);
  files::Checkpoint layer;
  add_layer(layer, "block.");
  CHECK(
      next(layer) ==
      "next: C++: ladon::safetensors::load<EncoderLayer>(file, \"block\")\n"
      "      C:   ladon_add_kernel(NAME QUERIES <n> MODEL 4 HEADS <n> FEED_FORWARD 8 WEIGHTS FILE PREFIX \"block\") in "
      "CMake\n" +
          of_layer);
  add_attention(layer, "block.multihead_attn.");
  CHECK(examples::has(next(layer), "load<DecoderLayer>(file, \"block\")"));
  CHECK(examples::has(next(layer), " FEED_FORWARD 8 MEMORY <n> WEIGHTS FILE"));
  files::Checkpoint attention;
  add_attention(attention, "");
  CHECK(
      next(attention) ==
      "next: C++: ladon::safetensors::load<MultiHeadAttention>(file, \"\")\n"
      "      C:   ladon_add_kernel(NAME QUERIES <n> MODEL 4 HEADS <n> WEIGHTS FILE PREFIX \"\") in CMake\n"
      "      The file cannot tell QUERIES (the largest number of tokens), HEADS, the scale, rotary embeddings and the "
      "mask\n");
  files::Checkpoint grouped;
  grouped.add("a.self_attn.q_proj.weight", 4, 4, 1).add("a.self_attn.k_proj.weight", 2, 4, 1);
  grouped.add("a.self_attn.v_proj.weight", 2, 4, 1).add("a.self_attn.o_proj.weight", 4, 4, 1);
  grouped.add("a.mlp.gate_proj.weight", 8, 4, 1)
      .add("a.mlp.up_proj.weight", 8, 4, 1)
      .add("a.mlp.down_proj.weight", 4, 8, 1);
  CHECK(examples::has(next(grouped), "MODEL 4 HEADS <n> BIAS none FEED_FORWARD 8 GATED FEED_FORWARD_BIAS without WEI"));
  CHECK(examples::has(next(grouped), "HEADS, KV_HEADS, HEAD_WIDTH, ACTIVATION, NORM, NORM_KIND, NORM_BIAS, EPSILON"));
  CHECK(next(files::Checkpoint().add("head.0.weight", 2, 2, 1)).empty());
  static_cast<void>(folder.file("config.json", R"({"model_type": "bert"})"));
  CHECK(examples::has(next(stack), "next: ladon-import FOLDER"));
}

TEST_CASE("a list is not much longer than the file, for any names") {
  const TemporaryFolder folder;
  files::Checkpoint checkpoint;
  const std::string long_name(50'000, 'a');
  checkpoint.add(long_name, "F32", "[1]", "1234").add("b", std::string(30'000, 'D'), "[1]", "1234");
  for (int i = 0; i < 2'000; ++i) checkpoint.add("c" + std::to_string(i), "F32", "[1]", "1234");
  const auto file = folder.file("m.safetensors", checkpoint.content());
  const Answer answer = run("list '" + file.string() + "'");
  CHECK(answer.status == 0);
  CHECK(std::ranges::count(answer.out, '\n') == 2'003);
  CHECK(answer.out.size() < 4 * std::filesystem::file_size(file));
  CHECK(has(answer.out, long_name + "  F32 "));  // the whole name, followed by the rest of its line
}

TEST_CASE("packing writes both files, and prints nothing") {
  const Scene scene;
  const Answer answer = run(scene.pack("layer.0.attention") + " --namespace kernel::stored");
  CHECK(answer.status == 0);
  CHECK(answer.out.empty());
  CHECK(answer.err.empty());
  CHECK(content_of(scene.data).size() == 68 * 4);
  const std::string offsets = content_of(scene.offsets);
  CHECK(has(offsets, "Made by ladon-weights from \"small.safetensors\", prefix \"layer.0.attention\""));
  CHECK_FALSE(has(offsets, scene.folder.path().string()));
  CHECK(has(offsets, "namespace kernel::stored {"));
  CHECK(has(offsets, "in_proj_bias = 32;"));
}

TEST_CASE("equal inputs give equal bytes, also in another folder") {
  const Scene scene, other;
  CHECK(run(scene.pack("layer.0.attention")).status == 0);
  CHECK(run(other.pack("layer.0.attention.")).status == 0);  // a prefix may end with a dot, as in PyTorch
  CHECK(content_of(scene.data) == content_of(other.data));
  CHECK(content_of(scene.offsets) == content_of(other.offsets));
}

TEST_CASE("tensors that the kernel does not take are reported") {
  const Scene scene("in_proj_weight 4+2+2 4\nout_proj_weight 4 4\n");
  const Answer answer = run(scene.pack("layer.0.attention"));
  CHECK(answer.status == 0);
  CHECK(has(answer.err,
            "note: the kernel does not use these tensors of the checkpoint: "
            "\"layer.0.attention.output.dense.bias\", \"layer.0.attention.self.key.bias\""));
}

TEST_CASE("a wrong file gives the exit status 1, and the outputs are unchanged") {
  const Scene scene;
  check_refused(run(scene.pack("layer.1.attention")), 1, "such tensors are below prefix \"layer.0.attention\"");
  scene.check_untouched();
  const Scene wrong_shape("in_proj_weight 4+4+4 4\n");
  check_refused(run(wrong_shape.pack("layer.0.attention")), 1, "expected shape [4,4], found [2,4]");
  wrong_shape.check_untouched();
  const Scene wrong_spec("in_proj 4\n");
  check_refused(run(wrong_spec.pack("layer.0.attention")), 1, "kernel.spec: cannot be used as SPEC\n  line 1: ");
  wrong_spec.check_untouched();
  std::filesystem::resize_file(scene.checkpoint, 300);
  check_refused(run(scene.pack("layer.0.attention")), 1, "small.safetensors: expected a header of at most 292 bytes");
  scene.check_untouched();
  check_refused(run("list '" + scene.checkpoint.string() + "'"), 1, "truncated");
  check_refused(run("list /no/such/file"), 1, "/no/such/file: no such file");
}

TEST_CASE("packing int8: three tensors for each weight, and no output after a NaN") {
  const Scene scene("out_proj_weight 4 4 int8\nout_proj_bias 4\n");
  CHECK(run(scene.pack("layer.0.attention")).status == 0);
  const std::string offsets = content_of(scene.offsets);
  CHECK(has(offsets, "out_proj_weight = 0;"));
  CHECK(has(offsets, "out_proj_weight_scale = 16;"));
  CHECK(has(offsets, "out_proj_weight_row_sum = 32;"));
  CHECK(has(offsets, "out_proj_bias = 48;"));
  CHECK(content_of(scene.data).size() == 52 * 4);

  const Scene wrong("out_proj_weight 1 2 int8\n");
  files::Checkpoint content;
  content.add("out_proj.weight", "F32", "[1,2]", std::string("\x00\x00\x00\x00\x00\x00\xc0\x7f", 8));
  static_cast<void>(wrong.folder.file("small.safetensors", content.content()));
  check_refused(run(wrong.pack("")), 1,
                "tensor \"out_proj.weight\": expected finite weights, found NaN at row 0, column 1");
  wrong.check_untouched();
}

TEST_CASE("an output that cannot be written leaves the other output unchanged") {
  Scene scene;
  scene.offsets = scene.folder.path() / "absent" / "out.h";
  check_refused(run(scene.pack("layer.0.attention")), 1, "out.h: cannot be written: No such file or directory");
  CHECK(content_of(scene.data) == "old data");
}

TEST_CASE("a list that cannot be written gives the exit status 1 and the reason") {
  if (!std::filesystem::exists("/dev/full")) return;
  const Scene scene;
  check_refused(run("list '" + scene.checkpoint.string() + "' >/dev/full"), 1,
                "the list could not be written: No space left on device");
}

TEST_CASE("wrong usage gives the exit status 2") {
  Scene scene;
  check_refused(run(""), 2, "A subcommand is required");
  check_refused(run("unpack"), 2, "A subcommand is required");
  check_refused(run("list"), 2, "file is required");
  check_refused(run("pack x.safetensors"), 2, "is required");
  check_refused(run(scene.pack("a") + " --colour"), 2, "--colour");
  for (const std::string name : {"1a", "a b", "a::", "::a", "a:b", "a::1", "a{}", ""})
    check_refused(run(scene.pack("a") + " --namespace '" + name + "'"), 2,
                  "'" + name + "' is not a name of a C++ namespace");
  scene.check_untouched();
  scene.offsets = scene.data;
  check_refused(run(scene.pack("layer.0.attention")), 2, "out.bin: is named twice");
  scene.offsets = scene.folder.path() / "." / "small.safetensors";
  check_refused(run(scene.pack("layer.0.attention")), 2, "is named twice");
}

TEST_CASE("help describes the usage") {
  const Answer answer = run("pack --help");
  CHECK(answer.status == 0);
  CHECK(has(answer.out, "in_proj_weight 384+384+384 384"));
  CHECK(has(run("--help").out, "ladon-weights list FILE.safetensors"));
}

TEST_SUITE_END();

}  // namespace ladon::weights

#endif
