// Tests `take`: the parts of a model outside its layers, from tensors of the same name.
#include <doctest/doctest.h>

#include <bit>
#include <cmath>
#include <cstdint>
#include <ladon/ladon.hpp>
#include <ladon/safetensors.hpp>
#include <string>

#include "safetensors_file.hpp"
#include "testing/fixtures.hpp"

namespace {

using examples::TemporaryFolder;
using ladon::Bias, ladon::NormKind, ladon::Order;
using ladon::safetensors::Error, ladon::safetensors::File, ladon::safetensors::take;
using Checkpoint = ladon::files::Checkpoint;
template <class Precision>
using Map = ladon::Linear<4, 8, Order::out_in, Bias::with, Precision>;

// The numbers 0, 1/4, .., 7/4, which are exact in F16 and BF16, in turn.
float value_of(std::size_t i) { return static_cast<float>(i % 8) / 4; }
std::string bytes_of(const std::string& dtype, std::size_t count) {
  std::string bytes;
  for (std::size_t i = 0; i < count; ++i) {
    const auto bits = std::bit_cast<std::uint32_t>(value_of(i));
    const std::uint32_t half = value_of(i) == 0 ? 0 : (bits >> 13) - ((127 - 15) << 10);
    const std::uint32_t stored = dtype == "F32" ? bits : dtype == "BF16" ? bits >> 16 : half;
    bytes.append(reinterpret_cast<const char*>(&stored), dtype == "F32" ? 4 : 2);
  }
  return bytes;
}

Checkpoint checkpoint(const std::string& dtype, const std::string& shape = "[4,8]") {
  return Checkpoint()
      .add("a.dense.weight", dtype, shape, bytes_of(dtype, 32))
      .add("a.dense.bias", dtype, "[4]", bytes_of(dtype, 4));
}

template <class Part>
std::string complaint_of_part(const Checkpoint& checkpoint, const std::string& name) {
  const TemporaryFolder folder;
  const File file(folder.file("m.safetensors", checkpoint.content()));
  Part part{};
  const std::string text = examples::error_of<Error>([&] { take(file, name, part); });
  if constexpr (requires { part.weight; }) {
    CHECK((text.empty() || part.weight.data == nullptr));
  } else {
    CHECK((text.empty() || part.data == nullptr));
  }
  return text;
}

void check_contains(const std::string& text, const std::string& wanted) {
  CAPTURE(text);
  CAPTURE(wanted);
  CHECK(text.find(wanted) != text.npos);
}

}  // namespace

TEST_CASE("a linear map of floats from tensors of every dtype") {
  for (const std::string dtype : {"F32", "F16", "BF16"}) {
    CAPTURE(dtype);
    const TemporaryFolder folder;
    const File file(folder.file("m.safetensors", checkpoint(dtype).content()));
    Map<ladon::precision::Float32> floats;
    Map<ladon::precision::BFloat16> rounded;
    take(file, "a.dense", floats);
    take(file, "a.dense", rounded);
    for (std::size_t i = 0; i < 32; ++i) CHECK(floats.weight.data[i] == value_of(i));
    for (std::size_t i = 0; i < 32; ++i) CHECK(ladon::to_float(rounded.weight.data[i]) == value_of(i));
    for (std::size_t i = 0; i < 4; ++i) CHECK(floats.bias.data[i] == value_of(i));
    CHECK(rounded.bias.data == floats.bias.data);
    CHECK((floats.weight.data == static_cast<const void*>(file.bytes(file.tensors().at("a.dense.weight")).data())) ==
          (dtype == "F32"));
    CHECK((rounded.weight.data == static_cast<const void*>(file.bytes(file.tensors().at("a.dense.weight")).data())) ==
          (dtype == "BF16"));
    const auto* const kept = floats.weight.data;
    take(file, "a.dense", floats);
    CHECK(floats.weight.data == kept);
  }
}

TEST_CASE("a linear map of int8 from floats, and rotated") {
  for (const std::string dtype : {"F32", "F16", "BF16"}) {
    CAPTURE(dtype);
    const TemporaryFolder folder;
    // Another int8 weight of the file does not matter.
    const File file(
        folder.file("m.safetensors",
                    checkpoint(dtype).add("b.weight", "I8", "[1,1]", "a").add("b.weight_scale", 1, 1, 1).content()));
    Map<ladon::precision::Int8<8>> plain;
    Map<ladon::precision::Int8<8, true>> rotated;
    take(file, "a.dense", plain);
    take(file, "a.dense", rotated);
    float weight[32];
    for (std::size_t i = 0; i < 32; ++i) weight[i] = value_of(i);
    const ladon::Linear<4, 8> floats{.weight = weight};
    std::int8_t expected[32], expected_rotated[32];
    float scale[4], scale_rotated[4];
    REQUIRE(ladon::quantise(floats, expected, scale));
    REQUIRE(ladon::quantise_rotated(floats, expected_rotated, scale_rotated));
    std::int32_t sums[4];
    ladon::row_sums<4, 8>(expected, sums);
    for (std::size_t i = 0; i < 32; ++i) CHECK(plain.weight.data[i] == expected[i]);
    for (std::size_t i = 0; i < 32; ++i) CHECK(rotated.weight.data[i] == expected_rotated[i]);
    for (std::size_t i = 0; i < 4; ++i) CHECK(plain.scale.data[i] == scale[i]);
    for (std::size_t i = 0; i < 4; ++i) CHECK(rotated.scale.data[i] == scale_rotated[i]);
    for (std::size_t i = 0; i < 4; ++i) CHECK(plain.row_sum.data[i] == sums[i]);
    CHECK(plain.bias.data[3] == value_of(3));
  }
}

TEST_CASE("an int8 weight of the file is used in place") {
  const Checkpoint int8 =
      Checkpoint().add("table.weight", "I8", "[4,8]", std::string(32, '\3')).add("table.weight_scale", 4, 1, 1);
  const TemporaryFolder folder;
  const File file(folder.file("m.safetensors", int8.content()));
  ladon::EmbeddingTable<4, 8, ladon::precision::Int8<8>> table;
  take(file, "table", table);
  CHECK(table.weight.data == file.tensor<std::int8_t>("table.weight", {4, 8}));
  CHECK(table.scale.data == file.tensor("table.weight_scale", {4, 1}));
  CHECK(table.row_sum.data[2] == 24);
  check_contains(complaint_of_part<ladon::EmbeddingTable<4, 8, ladon::precision::Int8<8, true>>>(int8, "table"),
                 R"(tensor "table.weight_scale": expected negative and finite scales)");
  check_contains(complaint_of_part<ladon::EmbeddingTable<4, 8>>(int8, "table"), R"(F16 or BF16, found "I8")");
}

TEST_CASE("a weight (in, out), and a weight without a module") {
  const TemporaryFolder folder;
  const File file(folder.file("m.safetensors", checkpoint("F32", "[8,4]").add("proj", 4, 8, 7).content()));
  ladon::Linear<4, 8, Order::in_out> in_out;
  take(file, "a.dense", in_out);
  CHECK(in_out.weight.data == file.tensor("a.dense.weight", {8, 4}));
  ladon::Linear<4, 8, Order::out_in, Bias::without> alone;
  take(file, "proj", alone);
  CHECK(alone.weight.data == file.tensor("proj", {4, 8}));
  const TemporaryFolder halves;
  const File half(halves.file("m.safetensors", checkpoint("F16", "[8,4]").content()));
  take(half, "a.dense", in_out);
  for (std::size_t i = 0; i < 32; ++i) CHECK(in_out.weight.data[i] == value_of(i));
}

TEST_CASE("norms, also with the names gamma and beta, keep their epsilon") {
  const Checkpoint content = Checkpoint()
                                 .add("new.weight", "BF16", "[8]", bytes_of("BF16", 8))
                                 .add("new.bias", 8, 1)
                                 .add("old.gamma", 8, 2)
                                 .add("old.beta", 8, 3)
                                 .add("rms.weight", 8, 4);
  const TemporaryFolder folder;
  const File file(folder.file("m.safetensors", content.content()));
  ladon::Norm<8> norm;
  norm.epsilon = 1e-12f;
  take(file, "new", norm);
  CHECK(norm.weight.data[5] == value_of(5));
  CHECK(norm.bias.data[5] == 6);
  CHECK(norm.epsilon == 1e-12f);
  take(file, "old", norm);
  CHECK(norm.weight.data[5] == 7);
  CHECK(norm.bias.data[5] == 8);
  ladon::Norm<8, NormKind::rms> rms;
  take(file, "rms", rms);
  CHECK(rms.weight.data[5] == 9);
  check_contains(complaint_of_part<ladon::Norm<8, NormKind::rms>>(content, "old"), R"(no place for "old.beta")");
  check_contains(complaint_of_part<ladon::Norm<8>>(content, "rms"), R"(there is no "rms.bias"; similar names: )");
  check_contains(complaint_of_part<ladon::Norm<7>>(content, "new"), "expected shape [7], found [8]");
}

TEST_CASE("extents that merge, and extents of 1") {
  for (const std::string shape : {"[4,8]", "[4,2,4]", "[4,2,2,2]", "[1,4,1,8,1]", "[2,2,8]"}) {
    CAPTURE(shape);
    CHECK(complaint_of_part<ladon::Linear<4, 8>>(checkpoint("F32", shape), "a.dense").empty());
    CHECK(complaint_of_part<Map<ladon::precision::Int8<8>>>(checkpoint("F32", shape), "a.dense").empty());
  }
  for (const std::string shape : {"[8,4]", "[32]", "[2,16]", "[2,4,4]", "[4,4,2,1,1,1]", "[1,1,32]"}) {
    CAPTURE(shape);
    const bool merges = shape == "[4,4,2,1,1,1]";
    CHECK(complaint_of_part<ladon::Linear<4, 8>>(checkpoint("F32", shape), "a.dense").empty() == merges);
  }
  check_contains(complaint_of_part<ladon::Linear<4, 8>>(checkpoint("F32", "[8,4]"), "a.dense"),
                 R"(tensor "a.dense.weight": expected shape [4,8], found [8,4], transposed)");
  // The product of these extents is 32, modulo 2^64.
  check_contains(complaint_of_part<ladon::Linear<4, 8>>(
                     checkpoint("F32", "[4,9223372036854775807,2,9223372036854775807,2,8]"), "a.dense"),
                 "expected shape");
}

TEST_CASE("views of floats") {
  const Checkpoint content = Checkpoint()
                                 .add("cls", "BF16", "[1,1,32]", bytes_of("BF16", 32))
                                 .add("positions.weight", 4, 8, 5)
                                 .add("scale", "F32", "[]", ladon::files::floats({3}))
                                 .add("none", "F32", "[1,0,8]", "");
  const TemporaryFolder folder;
  const File file(folder.file("m.safetensors", content.content()));
  ladon::VectorView<const float, 32> row;
  take(file, "cls", row);
  for (std::size_t i = 0; i < 32; ++i) CHECK(row.data[i] == value_of(i));
  ladon::MatrixView<const float, 4, 8> table;
  take(file, "positions", table);
  CHECK(table.data == file.tensor("positions.weight", {4, 8}));
  take(file, "positions.weight", row);
  CHECK(row.data == table.data);
  ladon::VectorView<const float, 1> scale;
  take(file, "scale", scale);
  CHECK(scale.data[0] == 3);
  using Turned = ladon::MatrixView<const float, 8, 4>;
  check_contains(complaint_of_part<Turned>(content, "positions"), "expected shape [8,4], found [4,8]");
  check_contains(complaint_of_part<Turned>(content, "position"), R"(similar names: "positions.weight")");
  check_contains(complaint_of_part<ladon::VectorView<const float, 8>>(content, "none"),
                 "expected shape [8], found [1,0,8]");
}

TEST_CASE("each error of a part names its tensor") {
  using Linear = ladon::Linear<4, 8>;
  check_contains(complaint_of_part<Linear>(checkpoint("F32"), "a.dence"),
                 "is not what the part \"a.dence\" needs\n"
                 R"(  there is no "a.dence.weight"; similar names: "a.dense.weight")");
  check_contains(complaint_of_part<ladon::EmbeddingTable<4, 8>>(checkpoint("F32"), "a.dense"),
                 R"(the part has no place for "a.dense.bias")");
  check_contains(complaint_of_part<Linear>(Checkpoint()
                                               .add("a.weight", "I32", "[4,8]", std::string(128, 0))
                                               .add("a.bias", "F64", "[4]", std::string(32, 0)),
                                           "a"),
                 "\n  a: tensor \"a.weight\": expected dtype F32, F16 or BF16, found \"I32\""
                 "\n  a: tensor \"a.bias\": expected dtype F32, F16 or BF16, found \"F64\"");
  check_contains(complaint_of_part<Map<ladon::precision::BFloat16>>(
                     Checkpoint().add("a.weight", 4, 8, INFINITY).add("a.bias", 4, 0), "a"),
                 R"(tensor "a.weight": expected finite weights, found an infinity at row 0, column 0)");
  // Names in errors are escaped, so that a file cannot send control sequences to a terminal.
  check_contains(complaint_of_part<Linear>(Checkpoint().add("\\u001bx", 3, 8, 0).add("\\u001bx.bias", 4, 0), "\x1bx"),
                 R"(
  \u001bx: tensor "\u001bx": expected shape [4,8])");
}
