// Tests `load`: the weights that `load` makes from the tensors of a file, and the errors for wrong files.
#include <doctest/doctest.h>

#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <ladon/ladon.hpp>
#include <ladon/safetensors.hpp>
#include <string>
#include <vector>

#include "byte_order.hpp"
#include "safetensors_file.hpp"
#include "testing/fixtures.hpp"

namespace {

using examples::TemporaryFolder;
using ladon::files::is_in_file;
using ladon::safetensors::Error, ladon::safetensors::File, ladon::safetensors::load;
using Checkpoint = ladon::files::Checkpoint;

constexpr ladon::Shape shape{.queries = 4, .model = 4, .heads = 2};
using Attention = ladon::MultiHeadAttention<shape>;
template <class Layout>
using AttentionWith = ladon::MultiHeadAttention<shape, ladon::mask::Unmasked, Layout>;
using Separate = AttentionWith<ladon::layout::SeparateQKV>;

Checkpoint attention(const std::string& prefix = "") {
  return Checkpoint()
      .add(prefix + "in_proj_weight", 12, 4, 0)
      .add(prefix + "in_proj_bias", 12, 100)
      .add(prefix + "out_proj.weight", 4, 4, 200)
      .add(prefix + "out_proj.bias", 4, 300);
}

template <class Layer>
std::string complaint(const Checkpoint& checkpoint, const std::string& prefix = "") {
  const TemporaryFolder folder;
  const File file(folder.file("m.safetensors", checkpoint.content()));
  const std::string text = examples::error_of<Error>([&] { static_cast<void>(load<Layer>(file, prefix)); });
  return text.substr(text.find('\n') == text.npos ? 0 : text.find('\n'));
}

void check_has(const std::string& text, const std::string& part) {
  CAPTURE(text);
  CAPTURE(part);
  CHECK(text.find(part) != text.npos);
}

}  // namespace

TEST_CASE("the weights point into the file, also after the File object was moved") {
  const TemporaryFolder folder;
  File opened(folder.file("m.safetensors", attention("self_attn.").content()));
  const auto weights = load<Attention>(opened, "self_attn");
  const File file(std::move(opened));
  CHECK(is_in_file(weights.in_proj.weight.data, file.tensor("self_attn.in_proj_weight", {12, 4})));
  CHECK(is_in_file(weights.in_proj.bias.data, file.tensor("self_attn.in_proj_bias", {12})));
  CHECK(is_in_file(weights.out_proj.weight.data, file.tensor("self_attn.out_proj.weight", {4, 4})));
  CHECK(weights.out_proj.bias.data[3] == 303);
}

TEST_CASE("SeparateQKV points to the rows of PyTorch's in_proj") {
  const TemporaryFolder folder;
  const File file(folder.file("m.safetensors", attention().content()));
  const auto weights = load<Separate>(file, "");
  const float* in_proj = file.tensor("in_proj_weight", {12, 4});
  CHECK(is_in_file(weights.query_proj.weight.data, in_proj));
  CHECK(is_in_file(weights.key_proj.weight.data, in_proj + 16));
  CHECK(is_in_file(weights.value_proj.weight.data, in_proj + 32));
  CHECK(weights.value_proj.bias.data[0] == 108);
}

TEST_CASE("bfloat16 weights") {
  using BFloat16 = AttentionWith<ladon::layout::BFloat16<ladon::layout::InProj>>;
  const TemporaryFolder folder;
  const File file(folder.file("m.safetensors", Checkpoint()
                                                   .add("in_proj_weight", "BF16", "[12,4]", std::string(96, 'a'))
                                                   .add("in_proj_bias", 12, 0)
                                                   .add("out_proj.weight", "BF16", "[4,4]", std::string(32, 'b'))
                                                   .add("out_proj.bias", 4, 0)
                                                   .content()));
  const auto weights = load<BFloat16>(file, "");
  CHECK(is_in_file(weights.in_proj.weight.data, file.tensor<ladon::BFloat16>("in_proj_weight", {12, 4})));
  CHECK(weights.out_proj.weight.data[15].bits == 0x6262);
}

namespace {

// Returns an attention whose tensors all have the dtype. The elements have the values 0, 1/4, .., 7/4, which are exact
// in F16 and BF16. If `parts` is true, queries, keys and values have separate tensors, with the names of Llama.
Checkpoint attention_of(const std::string& dtype, bool parts = false) {
  const std::size_t width = dtype == "F32" ? 4 : 2;
  std::size_t next = 0;
  Checkpoint checkpoint;
  const auto add = [&](const std::string& name, std::size_t rows, std::size_t columns) {
    std::string bytes;
    for (std::size_t i = 0; i < rows * columns; ++i) {
      const float value = static_cast<float>(next++ % 8) / 4;
      const auto bits = std::bit_cast<std::uint32_t>(value);
      const std::uint32_t half = value == 0 ? 0 : (bits >> 13) - ((127 - 15) << 10);
      const std::uint32_t stored = dtype == "F32" ? bits : dtype == "BF16" ? bits >> 16 : half;
      const std::uint32_t in_file = ladon::files::swapped_if_big_endian(stored);
      bytes.append(reinterpret_cast<const char*>(&in_file), width);
    }
    const std::string sizes = "[" + std::to_string(rows) + (columns == 1 ? "]" : "," + std::to_string(columns) + "]");
    checkpoint.add(name, dtype, sizes, bytes);
  };
  if (parts) {
    for (const std::string part : {"q", "k", "v"}) add(part + "_proj.weight", 4, 4);
    for (const std::string part : {"q", "k", "v"}) add(part + "_proj.bias", 4, 1);
  } else {
    add("in_proj_weight", 12, 4);
    add("in_proj_bias", 12, 1);
  }
  add(parts ? "o_proj.weight" : "out_proj.weight", 4, 4);
  add(parts ? "o_proj.bias" : "out_proj.bias", 4, 1);
  return checkpoint;
}

float as_float(float value) { return value; }
float as_float(ladon::BFloat16 value) { return ladon::to_float(value); }

// Loads the attention of attention_of, and checks all values.
template <class Layout>
void check_values(const std::string& content) {
  const TemporaryFolder folder;
  const File file(folder.file("m.safetensors", content));
  const auto weights = load<AttentionWith<Layout>>(file, "");
  std::size_t next = 0;
  const auto check = [&](const auto* values, std::size_t count) {
    REQUIRE(reinterpret_cast<std::uintptr_t>(values) % sizeof(*values) == 0);
    for (std::size_t i = 0; i < count; ++i) CHECK(as_float(values[i]) == static_cast<float>(next++ % 8) / 4);
  };
  check(weights.in_proj.weight.data, 48);
  check(weights.in_proj.bias.data, 12);
  check(weights.out_proj.weight.data, 16);
  check(weights.out_proj.bias.data, 4);
  CHECK(load<AttentionWith<Layout>>(file, "").in_proj.weight.data == weights.in_proj.weight.data);
}

// Moves the data of a file by one byte, so that no float is aligned.
std::string unaligned(std::string content) {
  std::uint64_t header_bytes = 0;
  std::memcpy(&header_bytes, content.data(), sizeof(header_bytes));
  header_bytes = ladon::files::swapped_if_big_endian(header_bytes);
  content.insert(sizeof(header_bytes) + static_cast<std::size_t>(header_bytes), " ");
  header_bytes = ladon::files::swapped_if_big_endian(header_bytes + 1);
  return content.replace(0, sizeof(header_bytes), reinterpret_cast<const char*>(&header_bytes), sizeof(header_bytes));
}

}  // namespace

TEST_CASE("weights of every dtype, in one tensor or in three, aligned or not, are loaded as float32 and as bfloat16") {
  for (const std::string dtype : {"F32", "F16", "BF16"}) {
    CAPTURE(dtype);
    for (const bool parts : {false, true}) {
      const std::string content = attention_of(dtype, parts).content();
      for (const std::string& file : {content, unaligned(content)}) {
        check_values<ladon::layout::InProj>(file);
        check_values<ladon::layout::BFloat16<ladon::layout::InProj>>(file);
      }
    }
  }
}

TEST_CASE("a weight that bfloat16 cannot hold is named in the error") {
  using BFloat16 = AttentionWith<ladon::layout::BFloat16<ladon::layout::InProj>>;
  Checkpoint checkpoint;
  checkpoint.add("in_proj_weight", 12, 4, 0).add("in_proj_bias", 12, 0).add("out_proj.weight", 4, 4, INFINITY);
  check_has(complaint<BFloat16>(checkpoint.add("out_proj.bias", 4, 0)),
            R"(tensor "out_proj.weight": expected finite weights, found an infinity at row 0, column 0)");
}

namespace {

// Returns an attention with int8 weights and scales of the dtype.
Checkpoint int8_attention(const std::string& scale_dtype) {
  Checkpoint checkpoint;
  std::string in(48, '\0'), out(16, '\0');
  for (std::size_t i = 0; i < in.size(); ++i) in[i] = static_cast<char>(static_cast<int>(i) - 24);
  for (std::size_t i = 0; i < out.size(); ++i) out[i] = static_cast<char>(static_cast<int>(i) - 8);
  const auto scales = [&](std::size_t rows) {
    // 1/2; the upper half of its bits is a bfloat16
    const auto half = ladon::files::swapped_if_big_endian(std::uint32_t{0x3F000000});
    const bool is_float = scale_dtype == "F32";
    std::string bytes;
    for (std::size_t i = 0; i < rows; ++i)
      bytes.append(reinterpret_cast<const char*>(&half) + (is_float ? 0 : 2), is_float ? 4 : 2);
    return bytes;
  };
  checkpoint.add("in_proj_weight", "I8", "[12,4]", in).add("in_proj_weight_scale", scale_dtype, "[12,1]", scales(12));
  checkpoint.add("out_proj.weight", "I8", "[4,4]", out).add("out_proj.weight_scale", scale_dtype, "[4,1]", scales(4));
  return checkpoint.add("in_proj_bias", 12, 100).add("out_proj.bias", 4, 300);
}

}  // namespace

TEST_CASE("int8 weights are used in place, with scales of any dtype") {
  using Int8 = AttentionWith<ladon::layout::Int8<ladon::layout::InProj>>;
  using SeparateInt8 = AttentionWith<ladon::layout::Int8<ladon::layout::SeparateQKV>>;
  for (const std::string dtype : {"F32", "BF16"}) {
    CAPTURE(dtype);
    const TemporaryFolder folder;
    const File file(folder.file("m.safetensors", int8_attention(dtype).content()));
    const auto weights = load<Int8>(file, "");
    CHECK(is_in_file(weights.in_proj.weight.data, file.tensor<std::int8_t>("in_proj_weight", {12, 4})));
    CHECK(weights.in_proj.scale.data[11] == 0.5f);
    CHECK((weights.in_proj.scale.data == file.tensor("in_proj_weight_scale", {12, 1})) ==
          (dtype == "F32" && ladon::files::is_little_endian));
    CHECK(weights.in_proj.row_sum.data[1] == -20 - 19 - 18 - 17);
    CHECK(weights.out_proj.bias.data[3] == 303);
    const auto separate = load<SeparateInt8>(file, "");
    CHECK(separate.key_proj.weight.data == weights.in_proj.weight.data + 16);
    CHECK(separate.key_proj.row_sum.data[0] == -8 - 7 - 6 - 5);
  }
}

TEST_CASE("float weights are quantised for a layer with int8 weights") {
  using Int8 = AttentionWith<ladon::layout::Int8<ladon::layout::SeparateQKV>>;
  const TemporaryFolder folder;
  const File file(folder.file("m.safetensors", attention().content()));
  const auto weights = load<Int8>(file, "");
  CHECK(weights.query_proj.weight.data[7] == 127);
  CHECK(weights.query_proj.scale.data[1] == 7 / 127.0f);
  CHECK(weights.value_proj.bias.data[0] == 108);
  CHECK(load<Int8>(file, "").query_proj.weight.data == weights.query_proj.weight.data);
}

TEST_CASE("matrices (in, out) are used in place, or transposed for other layouts") {
  Checkpoint checkpoint;
  checkpoint.add("h.0.attn.c_attn.weight", 4, 12, 0).add("h.0.attn.c_attn.bias", 12, 100);
  checkpoint.add("h.0.attn.c_proj.weight", 4, 4, 200).add("h.0.attn.c_proj.bias", 4, 300);
  const TemporaryFolder folder;
  const File file(folder.file("m.safetensors", checkpoint.content()));
  const auto weights = load<AttentionWith<ladon::layout::InProjInOut>>(file, "h.0.attn");
  CHECK(is_in_file(weights.in_proj.weight.data, file.tensor("h.0.attn.c_attn.weight", {4, 12})));
  CHECK(is_in_file(weights.out_proj.weight.data, file.tensor("h.0.attn.c_proj.weight", {4, 4})));
  const auto turned = load<Separate>(file, "h.0.attn");
  CHECK(turned.key_proj.weight.data[1] == 16);  // row 0, column 1: element [1][4] of the file
  CHECK(turned.out_proj.weight.data[1] == 204);
  CHECK(is_in_file(turned.key_proj.bias.data, weights.in_proj.bias.data + 4));
  const auto columns = load<AttentionWith<ladon::layout::InOut>>(file, "h.0.attn");
  CHECK(columns.key_proj.weight.data[1] == 5);
  CHECK(columns.out_proj.weight.data == weights.out_proj.weight.data);
}

TEST_CASE("in_proj with a block for each head is used in place") {
  constexpr ladon::Model blocks = [] {
    ladon::Model model = shape;
    model.projection_blocks = 2;
    return model;
  }();
  Checkpoint checkpoint;
  checkpoint.add("self_attn.query_key_value.weight", 12, 4, 0).add("self_attn.query_key_value.bias", 12, 100);
  checkpoint.add("self_attn.dense.weight", 4, 4, 200).add("self_attn.dense.bias", 4, 300);
  const TemporaryFolder folder;
  const File file(folder.file("m.safetensors", checkpoint.content()));
  const auto weights = load<ladon::MultiHeadAttention<blocks>>(file, "self_attn");
  CHECK(is_in_file(weights.in_proj.weight.data, file.tensor("self_attn.query_key_value.weight", {12, 4})));
  CHECK(load<Separate>(file, "self_attn").key_proj.weight.data[4 * 2] == 32);  // the first key of the second head
}

TEST_CASE("attention with a bias only in its output") {
  using ladon::layout::InProj, ladon::layout::SeparateQKV, ladon::layout::WithoutProjectionBias;
  const std::string bfloat16_weights(96, 'a'), bfloat16_output(32, 'b');
  const TemporaryFolder folder;
  const File file(folder.file("m.safetensors", Checkpoint()
                                                   .add("in_proj_weight", 12, 4, 0)
                                                   .add("out_proj.weight", 4, 4, 200)
                                                   .add("out_proj.bias", 4, 300)
                                                   .content()));
  const auto packed = load<AttentionWith<WithoutProjectionBias<InProj>>>(file, "");
  CHECK(is_in_file(packed.in_proj.weight.data, file.tensor("in_proj_weight", {12, 4})));
  CHECK(packed.out_proj.bias.data[3] == 303);
  const auto separate = load<AttentionWith<WithoutProjectionBias<SeparateQKV>>>(file, "");
  CHECK(is_in_file(separate.value_proj.weight.data, packed.in_proj.weight.data + 32));
  CHECK(separate.out_proj.bias.data == packed.out_proj.bias.data);

  const File bfloat16(folder.file("bfloat16.safetensors", Checkpoint()
                                                              .add("in_proj_weight", "BF16", "[12,4]", bfloat16_weights)
                                                              .add("out_proj.weight", "BF16", "[4,4]", bfloat16_output)
                                                              .add("out_proj.bias", 4, 300)
                                                              .content()));
  using BFloat16 = AttentionWith<ladon::layout::BFloat16<WithoutProjectionBias<InProj>>>;
  const auto weights = load<BFloat16>(bfloat16, "");
  CHECK(is_in_file(weights.in_proj.weight.data, bfloat16.tensor<ladon::BFloat16>("in_proj_weight", {12, 4})));
  CHECK(weights.out_proj.bias.data[0] == 300);
}

TEST_CASE("epsilon reaches every norm") {
  constexpr ladon::Model config{.feed_forward = 6, .final_norm = ladon::FinalNorm::with};
  using Encoder = ladon::Encoder<config.with(shape)>;
  Checkpoint checkpoint = attention("m.layers.0.self_attn.");
  const std::string layer = "m.layers.0.";
  checkpoint.add(layer + "linear1.weight", 6, 4, 0).add(layer + "linear1.bias", 6, 0);
  checkpoint.add(layer + "linear2.weight", 4, 6, 0).add(layer + "linear2.bias", 4, 0);
  for (const std::string norm : {"m.layers.0.norm1", "m.layers.0.norm2", "m.norm"})
    checkpoint.add(norm + ".weight", 4, 1).add(norm + ".bias", 4, 0);
  const TemporaryFolder folder;
  const File file(folder.file("m.safetensors", checkpoint.content()));
  const auto by_default = load<Encoder>(file, "m.layers");
  CHECK(by_default.layers[0].norm1.epsilon == 1e-5f);
  const auto weights = load<Encoder>(file, "m.layers", {.epsilon = 1e-12f});
  CHECK(weights.layers[0].norm1.epsilon == 1e-12f);
  CHECK(weights.layers[0].norm2.epsilon == 1e-12f);
  CHECK(weights.norm.epsilon == 1e-12f);
  CHECK(is_in_file(weights.norm.weight.data, file.tensor("m.norm.weight", {4})));

  // A stack without a final norm has no place for the tensors of "m.norm", so `load` reports these tensors.
  using WithoutNorm = ladon::Encoder<config.one_layer().with(shape)>;
  check_has(complaint<WithoutNorm>(checkpoint, "m.layers"), R"(no place for "m.norm.weight", "m.norm.bias")");
  CHECK(load<WithoutNorm>(file, "m.layers", {.strict = false}).layers[0].norm2.bias.data != nullptr);
}

TEST_CASE("each error names its cause") {
  check_has(complaint<Attention>(attention("encoder.self_attn."), "self_attn"), R"(prefix "encoder.self_attn")");
  check_has(
      complaint<Attention>(
          Checkpoint().add("in_proj_weight", 4, 12, 0).add("in_proj_bias", 12, 0).add("out_proj.weight", 4, 4, 0)),
      "in_proj_weight: tensor \"in_proj_weight\": expected shape [12,4], found [4,12], transposed\n"
      "  out_proj_bias: there is no \"out_proj.bias\"");
  check_has(complaint<AttentionWith<ladon::layout::WithoutOutputBias<ladon::layout::InProj>>>(attention()),
            R"(the layer has no place for "out_proj.bias"; with {.strict = false}, load ignores them)");
  check_has(complaint<AttentionWith<ladon::layout::WithoutProjectionBias<ladon::layout::InProj>>>(attention()),
            R"(the layer has no place for "in_proj_bias"; with {.strict = false}, load ignores them)");

  Checkpoint separate;
  for (const std::string part : {"self.query", "self.key", "self.value", "output.dense"})
    separate.add(part + ".weight", 4, 4, 0).add(part + ".bias", 4, 0);
  CHECK(complaint<Separate>(separate).empty());
  CHECK(complaint<Attention>(separate).empty());

  check_has(complaint<Attention>(Checkpoint()
                                     .add("in_proj_weight", "I32", "[12,4]", std::string(192, 0))
                                     .add("in_proj_bias", 12, 0)
                                     .add("out_proj.weight", 4, 4, 0)
                                     .add("out_proj.bias", 4, 0)),
            R"(expected dtype F32, F16 or BF16, found "I32")");
}

TEST_CASE("a LoRA adapter, a shard and names of another family of models are named, with the way out") {
  const std::string lora = "base_model.model.layers.0.self_attn.q_proj.lora_A.weight";
  const std::string text = complaint<Attention>(Checkpoint().add(lora, 4, 4, 0), "base_model.model.layers.0.self_attn");
  check_has(text, R"(no tensor below prefix "base_model.model.layers.0.self_attn" has a name that is searched)");
  const std::string base = "base_model.model.layers.0.self_attn.q_proj";
  check_has(text, "the file is a LoRA adapter, with tensors such as \"" + lora + "\", which change the base layer \"" +
                      base + "\" of another file; merge the adapter");
  check_has(complaint<Attention>(Checkpoint().add(lora, 4, 4, 0).add(base + ".base_layer.weight", 4, 4, 0), "layers.0"),
            "which change the base layer \"" + base + ".base_layer.weight\"; merge the adapter");
  check_has(complaint<Attention>(Checkpoint().add("blocks.0.attn.qkv.weight", 4, 12, 0), "blocks.0"),
            "as of timm's ViT");

  const TemporaryFolder folder;
  const File shard(folder.file("model-00001-of-00002.safetensors", Checkpoint().add("embedding", 4, 0).content()));
  const std::string of_shard = examples::error_of<Error>([&] { static_cast<void>(load<Attention>(shard, "layers.")); });
  check_has(of_shard, R"(nothing below prefix "layers")");
  check_has(of_shard, "the file is shard 00001 of 00002");
  check_has(examples::error_of<Error>([&] { static_cast<void>(shard.tensor("norm.weight", {4})); }), "shard 00001 of");
}

TEST_CASE("a missing tensor is reported with similar names") {
  const TemporaryFolder folder;
  const File file(folder.file("m.safetensors", attention("encoder.").content()));
  const auto complaint_of = [&](const std::string& name) {
    return examples::error_of<Error>([&] { static_cast<void>(file.tensor(name, {4})); });
  };
  check_has(complaint_of("encoder.out_proj_bias"),
            R"(tensor "encoder.out_proj_bias": expected a tensor of this name, found none; similar names: )"
            R"("encoder.out_proj.bias", "encoder.in_proj_bias", "encoder.out_proj.weight")");
  CHECK(complaint_of("pooler").find("similar") == std::string::npos);
  check_has(complaint_of("encoder.in_proj_bias"), "expected shape [4], found [12]");
}
