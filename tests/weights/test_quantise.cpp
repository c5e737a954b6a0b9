// Tests the conversion of a checkpoint to int8: which tensors are quantised, the quantised numbers, and the bytes of
// the output file.
#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <ladon/quantise.hpp>
#include <limits>
#include <random>

#include "converting.hpp"

namespace ladon::weights {
namespace {

using files::Checkpoint, files::floats;

// Returns the text of the error of a conversion to int8, or "" if the conversion succeeds.
std::string error_of_planning(const Checkpoint& checkpoint, const Selection& selection = {}) {
  return error_of_converting(checkpoint, Target::int8, selection);
}

struct QuantisedFile : ConvertedFile {
  explicit QuantisedFile(const Checkpoint& checkpoint, const Selection& selection = {})
      : ConvertedFile(checkpoint, Target::int8, selection) {}

  [[nodiscard]] std::vector<int> integers(const std::string& name) const {
    CHECK(tensor(name).dtype == "I8");
    std::vector<int> values;
    for (const char byte : bytes(name)) values.push_back(static_cast<signed char>(byte));
    return values;
  }
};

// Checks that the tensors NAME and NAME_scale of the output are the quantised `weight`. The expected results come from
// ladon::quantise, or from ladon::quantise_rotated if Rotated is true.
template <std::size_t Out, std::size_t In, bool Rotated = false>
void check_as_library(const QuantisedFile& result, const std::string& name, const std::vector<float>& weight) {
  const std::array<float, Out> bias{};
  std::vector<std::int8_t> expected(Out * In);
  std::array<float, Out> scale{};
  const ladon::Linear<Out, In> linear{weight.data(), bias};
  if constexpr (Rotated) {
    REQUIRE(ladon::quantise_rotated(linear, expected.data(), scale));
  } else {
    REQUIRE(ladon::quantise(linear, expected.data(), scale));
  }
  CHECK(result.tensor(name).dtype == "I8");
  CHECK(result.tensor(name).shape == std::vector<std::uint64_t>{Out, In});
  CHECK(result.bytes(name) == std::string(reinterpret_cast<const char*>(expected.data()), expected.size()));
  CHECK(result.bytes(name + "_scale") == floats({scale.begin(), scale.end()}));
  static_cast<void>(result.file().tensor(name + "_scale", {Out, 1}));  // throws unless F32, aligned and (Out, 1)
}

}  // namespace

TEST_SUITE_BEGIN("quantise");

TEST_CASE("a small weight: its numbers and the report") {
  Checkpoint checkpoint;
  checkpoint.add("fc.weight", "F32", "[2,3]", floats({127, -63.25f, 1, 0.5f, -1.27f, 0}));
  checkpoint.add("fc.bias", 2, 5);
  const QuantisedFile result(checkpoint);
  CHECK(result.integers("fc.weight") == std::vector{127, -63, 1, 50, -127, 0});
  CHECK(result.bytes("fc.weight_scale") == floats({1, 1.27f / 127}));
  CHECK(result.tensor("fc.weight_scale").shape == std::vector<std::uint64_t>{2, 1});
  CHECK(result.bytes("fc.bias") == floats({5, 6}));
  CHECK(result.file().tensors().size() == 3);
  // The largest error is 0.25, because the weight -63.25 becomes -63. The report divides 0.25 by the largest weight,
  // 127.
  CHECK(result.report() ==
        "name       shape  relative RMS  largest error\n"
        "fc.weight  [2,3]  0.001762           0.001969\n"
        "1 tensor quantised, 1 copied; 32 bytes before, 22 after\n");
}

TEST_CASE("the numbers equal those of ladon::quantise, to the last bit") {
  std::mt19937 random(1);
  std::normal_distribution<float> normal;
  std::vector<float> small(7 * 13), wide(2 * 70'001);  // the program reads a wide row in parts
  for (auto* weight : {&small, &wide})
    for (float& value : *weight) value = std::exp(3 * normal(random)) * normal(random);
  wide.back() = 1e9f;  // the largest weight is in the last part
  Checkpoint checkpoint;
  checkpoint.add("odd", "I8", "[1]", "x").add("a.weight", "F32", "[7,13]", floats(small));
  checkpoint.add("b.weight", "F32", "[2,70001]", floats(wide));
  const QuantisedFile result(checkpoint);
  check_as_library<7, 13>(result, "a.weight", small);
  check_as_library<2, 70'001>(result, "b.weight", wide);
}

TEST_CASE("4-bit numbers equal those of ladon::quantise_int4; embeddings get 8 bits") {
  std::mt19937 random(1);
  std::normal_distribution<float> normal;
  std::vector<float> weight(3 * 40);
  for (float& value : weight) value = normal(random);
  std::fill_n(weight.begin(), 40, 0.0f);
  Checkpoint checkpoint;
  checkpoint.add("a.weight", "F32", "[3,40]", floats(weight)).add("embed.weight", 3, 40, 1);
  checkpoint.add("b.weight", "I8", "[1,2]", "xy").add("b.weight_scale", 1, 1, 1);
  checkpoint.add("c.weight", "U8", "[2,33]", std::string(66, 'c')).add("c.weight_scale", "F32", "[2]", floats({0, 1}));
  const std::array<float, 3> bias{};
  const ladon::Linear<3, 40> linear{weight.data(), bias};
  constexpr std::size_t bytes = ladon::int4_row_bytes(40);
  for (const bool rotated : {false, true}) {
    std::vector<std::uint8_t> codes(3 * bytes);
    std::array<float, 3> scale{};
    REQUIRE((rotated ? ladon::quantise_rotated_int4(linear, codes.data(), scale)
                     : ladon::quantise_int4(linear, codes.data(), scale)));
    const ConvertedFile result(checkpoint, Target::int4, {{}, true, rotated});
    CHECK(result.tensor("a.weight").dtype == "U8");
    CHECK(result.tensor("a.weight").shape == std::vector<std::uint64_t>{3, bytes});
    CHECK(result.bytes("a.weight") == std::string(codes.begin(), codes.end()));
    CHECK(result.bytes("a.weight_scale") == floats({scale.begin(), scale.end()}));
    CHECK(result.tensor("embed.weight").dtype == "I8");
    CHECK(result.bytes("embed.weight_scale") == floats({40.0f / 127, 80.0f / 127, 120.0f / 127}));  // not rotated
    CHECK(result.bytes("b.weight") == "xy");
    CHECK(result.bytes("c.weight") == std::string(66, 'c'));
    const double relative = std::stod(result.report().substr(result.report().find("[3,40]") + 6));
    CHECK(relative > 0.05);
    CHECK(relative < 0.11);
    CHECK(result.report().find("2 tensors quantised, 4 copied (among them 2 weights that already were int8 or int4)") !=
          std::string::npos);
  }
  Checkpoint wide;
  wide.add("a.weight", "F32", "[1,65537]", std::string(4 * 65'537, '\0'));
  CHECK(error_of_converting(wide, Target::int4).find("expected at most 65536 columns, found 65537") !=
        std::string::npos);
}

TEST_CASE("weights that another program packed are refused") {
  for (const char* name : {"a.qweight", "a.weight_packed", "a.weight.absmax"}) {
    Checkpoint packed;
    packed.add(name, "I32", "[2,2]", std::string(16, 'x')).add("norm.weight", 2, 1).add("head.weight", 2, 2, 1);
    const std::string error = error_of_planning(packed);
    CHECK(error.find("such as \"" + std::string(name) + "\", which Ladon does not read") != std::string::npos);
    CHECK(error.find("--bits 4") != std::string::npos);
  }
}

TEST_CASE("F16 and BF16 weights are widened first; the scales are F32") {
  Checkpoint checkpoint;
  checkpoint.add("one_byte", "U8", "[1]", "x");
  checkpoint.add("half.weight", "F16", "[2,2]", halves({0x3C00, 0xC000, 0x0001, 0x7BFF}));
  checkpoint.add("brain.weight", "BF16", "[2,2]", halves({0x3F80, 0xC000, 0x3FC0, 0x7F7F}));
  const QuantisedFile result(checkpoint);
  check_as_library<2, 2>(result, "half.weight", {1, -2, 0x1p-24f, 65504});
  check_as_library<2, 2>(result, "brain.weight", {1, -2, 1.5f, std::bit_cast<float>(0x7F7F0000U)});
}

TEST_CASE("a row of zeros stays a row of zeros, with the scale 1") {
  Checkpoint checkpoint;
  checkpoint.add("weight", "F32", "[3,2]", floats({0, -0.0f, 2, 1, 1e-44f, -1e-38f}));
  const QuantisedFile result(checkpoint);
  check_as_library<3, 2>(result, "weight", {0, -0.0f, 2, 1, 1e-44f, -1e-38f});
  CHECK(result.bytes("weight_scale") == floats({1, 2.0f / 127, 1}));
  Checkpoint zeros;
  zeros.add("weight", "F32", "[1,2]", floats({0, 0}));
  CHECK(QuantisedFile(zeros).report().find("weight  [1,2]  0.000000           0.000000\n") != std::string::npos);
}

TEST_CASE("matrices of linear layers are quantised, everything else is copied") {
  Checkpoint checkpoint;
  const std::vector<std::string> quantised = {"weight", "fc.weight", "in_proj_weight", "a.in_proj_weight",
                                              "a.q_proj_weight"};
  for (const std::string& name : quantised) checkpoint.add(name, 2, 2, 1);
  const std::vector<std::string> copied = {"a.kernel", "fc.weight.more", "weights", "a.weight_v", "proj_weight"};
  for (const std::string& name : copied) checkpoint.add(name, 2, 2, 1);
  checkpoint.add("norm.weight", 4, 1).add("conv.weight", "F32", "[1,2,2]", floats({1, 2, 3, 4}));
  checkpoint.add("none.weight", "F32", "[0,4]", "").add("empty.weight", "F32", "[1099511627776,0]", "");
  checkpoint.add("double.weight", "F64", "[1,1]", "12345678").add("new.weight", "F4", "[2,2]", "12");
  const QuantisedFile result(checkpoint);
  for (const std::string& name : quantised) {
    CHECK(result.tensor(name).dtype == "I8");
    CHECK(result.tensor(name + "_scale").dtype == "F32");
  }
  for (const std::string& name : copied) CHECK(result.bytes(name) == floats({1, 2, 3, 4}));
  for (const std::string name : {"norm.weight", "conv.weight"}) CHECK(result.bytes(name) == floats({1, 2, 3, 4}));
  CHECK(result.bytes("double.weight") == "12345678");
  CHECK(result.bytes("new.weight") == "12");
  CHECK(result.tensor("empty.weight").shape == std::vector<std::uint64_t>{1'099'511'627'776, 0});
  CHECK(result.file().tensors().size() == 2 * quantised.size() + copied.size() + 6);
}

TEST_CASE("embeddings and heads of language models are copied, unless the options select them") {
  Checkpoint checkpoint;
  const std::vector<std::string> names = {"model.embed_tokens.weight", "transformer.wte.weight", "wpe.weight",
                                          "tok_table.weight",          "lm_head.weight",         "tied.weight"};
  for (const std::string& name : names) checkpoint.add(name, 3, 2, 1);
  checkpoint.add("other.weight", 3, 2, 2).add("of_other_shape.weight", 2, 3, 1);
  const QuantisedFile result(checkpoint);
  for (const std::string& name : names) CHECK(result.tensor(name).dtype == "F32");
  CHECK(result.tensor("other.weight").dtype == "I8");
  CHECK(result.tensor("of_other_shape.weight").dtype == "I8");
  const QuantisedFile all(checkpoint, {{}, true});
  for (const std::string& name : names) CHECK(all.tensor(name).dtype == "I8");
}

TEST_CASE("a tensor whose name matches is copied") {
  Checkpoint checkpoint;
  for (const std::string name : {"layers.0.fc.weight", "layers.1.fc.weight", "layers.10.fc.weight", "head.weight"})
    checkpoint.add(name, 2, 2, 1);
  const QuantisedFile result(checkpoint, keeping({std::regex("^head"), std::regex(R"(\.1\.)")}));
  CHECK(result.tensor("layers.0.fc.weight").dtype == "I8");
  CHECK(result.tensor("layers.1.fc.weight").dtype == "F32");
  CHECK(result.tensor("layers.10.fc.weight").dtype == "I8");
  CHECK(result.tensor("head.weight").dtype == "F32");
  CHECK(error_of_planning(checkpoint, keeping({std::regex("weight")})) ==
        "m.safetensors: there is nothing to quantise: expected a tensor of two dimensions, of dtype F32, F16 or BF16, "
        "with a name that ends in .weight or _proj_weight, found none that is not left out");
  checkpoint.add(std::string(100'000, 'a') + ".weight", 1, 1, 1);
  CHECK(error_of_planning(checkpoint).empty());
  CHECK(error_of_planning(checkpoint, keeping({std::regex("(a|b)*c")}))
            .ends_with("expected a name of at most 1000 bytes for --keep"));
}

TEST_CASE("weights that are already int8 are copied with their scales") {
  Checkpoint checkpoint;
  checkpoint.add("a.weight", "I8", "[2,2]", "\x01\x02\x03\x04")
      .add("a.weight_scale", "BF16", "[2,1]", halves({0x3F80, 0x4000}));
  checkpoint.add("b.weight", "I8", "[2,2]", "\x05\x06\x07\x08").add("b.weight_scale", 2, 1);
  checkpoint.add("lone.weight", "I8", "[1,1]", "x");
  CHECK(error_of_planning(checkpoint) ==
        "m.safetensors: there is nothing to quantise: expected a tensor of two dimensions, of dtype F32, F16 or BF16, "
        "with a name that ends in .weight or _proj_weight, found none that is not left out; number of weights that are "
        "int8 already: 2");
  checkpoint.add("c.weight", 2, 2, 1);
  const QuantisedFile result(checkpoint);
  CHECK(result.bytes("a.weight") == "\x01\x02\x03\x04");
  CHECK(result.bytes("a.weight_scale") == halves({0x3F80, 0x4000}));
  CHECK(result.bytes("b.weight_scale") == floats({1, 2}));
  CHECK(result.tensor("c.weight").dtype == "I8");
  CHECK(result.report().ends_with(
      "1 tensor quantised, 5 copied (among them 2 weights that already were int8); 37 bytes before, 33 after\n"));
}

TEST_CASE("rotated weights equal those of ladon::quantise_rotated; embeddings are not rotated") {
  std::mt19937 random(2);
  std::normal_distribution<float> normal;
  std::vector<float> small(7 * 24), wide(2 * 70'008), embedding(3 * 5);  // the program reads a wide row in parts
  for (auto* values : {&small, &wide, &embedding}) std::ranges::generate(*values, [&] { return normal(random); });
  Checkpoint checkpoint;
  checkpoint.add("small.weight", "F32", "[7,24]", floats(small)).add("wide.weight", "F32", "[2,70008]", floats(wide));
  checkpoint.add("embed.weight", "F32", "[3,5]", floats(embedding));
  checkpoint.add("old.weight", "I8", "[2,2]", "1234").add("old.weight_scale", "F32", "[2]", floats({-1, -2}));
  Selection selection;
  selection.embeddings = selection.rotate = true;
  const QuantisedFile result(checkpoint, selection);
  check_as_library<7, 24, true>(result, "small.weight", small);
  check_as_library<2, 70'008, true>(result, "wide.weight", wide);
  check_as_library<3, 5>(result, "embed.weight", embedding);
  CHECK(result.bytes("old.weight_scale") == floats({-1, -2}));
}

TEST_CASE("rotated weights: a number of columns that is no multiple of 8, and sums that may be infinite") {
  Selection selection;
  selection.rotate = true;
  Checkpoint narrow;
  narrow.add("a.weight", 2, 12, 1);
  CHECK(error_of_planning(narrow, selection) ==
        "m.safetensors: cannot be quantised\n  tensor \"a.weight\": expected a multiple of 8 columns, found 12");
  Checkpoint large;
  large.add("a.weight", "F32", "[1,8]", floats({1, 2, 3, 1e38f, 5, 6, 7, 8}));
  CHECK_THROWS_WITH_AS(QuantisedFile(large, selection), doctest::Contains("at row 0, column 3"), files::Error);
}

TEST_CASE("one error lists all scales that cannot be used") {
  Checkpoint checkpoint;
  const auto add = [&](const std::string& name, const std::string& dtype, const std::string& shape,
                       const std::string& scale) {
    checkpoint.add(name, "I8", "[2,2]", "1234").add(name + "_scale", dtype, shape, scale);
  };
  add("a.weight", "F32", "[2]", floats({1, 0}));
  add("b.weight", "F32", "[2,1]", floats({NAN, 1}));
  add("c.weight", "F16", "[2]", halves({0x3C00, 0x7C00}));
  add("d.weight", "F32", "[2,2]", floats({1, 1, 1, 1}));
  add("e.weight", "I32", "[2]", floats({1, 1}));
  add("f.weight", "F32", "[2]", floats({-1, 1}));
  checkpoint.add("good.weight", 2, 2, 1);
  CHECK(
      error_of_planning(checkpoint) ==
      "m.safetensors: cannot be quantised\n"
      "  tensor \"a.weight_scale\": expected positive and finite scales, found 0.000000 at row 1\n"
      "  tensor \"b.weight_scale\": expected positive and finite scales, found nan at row 0\n"
      "  tensor \"c.weight_scale\": expected positive and finite scales, found inf at row 1\n"
      "  tensor \"d.weight_scale\": expected shape [2,1] or [2], found [2,2]\n"
      "  tensor \"e.weight_scale\": expected dtype F32, F16 or BF16, found \"I32\"\n"
      "  tensor \"f.weight_scale\": expected negative and finite scales, as of rotated weights, found 1.000000 at row "
      "1");
}

TEST_CASE("an output name that exists in the file and a wrong number of bytes are errors") {
  Checkpoint checkpoint;
  checkpoint.add("a.weight", 2, 2, 1).add("a.weight_scale", 2, 1).add("b.weight", "F16", "[2,2]", "123456");
  checkpoint.add("c.weight", "F32", "[4294967296,4294967296]", "");
  checkpoint.add("d", "I64", "[2]", "12345678");
  CHECK(error_of_planning(checkpoint) ==
        "m.safetensors: cannot be quantised\n"
        "  tensor \"a.weight\": expected no tensor \"a.weight_scale\", which would become its scale, found one\n"
        "  tensor \"b.weight\": expected 8 bytes of data, found 6\n"
        "  tensor \"c.weight\": expected 18446744073709551615 bytes of data, found 0\n"
        "  tensor \"d\": expected 16 bytes of data, found 8");
}

TEST_CASE("the error for an infinite or NaN weight states its position") {
  for (const float bad : {NAN, std::numeric_limits<float>::infinity(), -std::numeric_limits<float>::infinity()}) {
    Checkpoint checkpoint;
    checkpoint.add("a.weight", 2, 2, 1).add("b.weight", "F32", "[2,3]", floats({1, 2, 3, 4, 5, bad}));
    CHECK(error_of_planning(checkpoint) ==
          std::string("m.safetensors: tensor \"b.weight\": expected finite weights, found ") +
              (std::isnan(bad) ? "NaN" : "an infinity") + " at row 1, column 2, counted from 0");
    CHECK(error_of_planning(checkpoint, keeping({std::regex("^b")})).empty());
  }
  std::vector<float> wide(70'000);
  wide[69'999] = NAN;
  Checkpoint checkpoint;
  checkpoint.add("a.weight", "F32", "[1,70000]", floats(wide));
  CHECK(error_of_planning(checkpoint).ends_with("found NaN at row 0, column 69999, counted from 0"));
}

TEST_CASE("the metadata are copied") {
  Checkpoint checkpoint;
  checkpoint.add("a.weight", 2, 2, 1);
  CHECK(QuantisedFile(checkpoint).file().metadata().empty());
  checkpoint.metadata(R"({"format":"pt","made \"by\"":"\u001b[2J"})");
  CHECK(QuantisedFile(checkpoint).file().metadata() == R"({"format":"pt","made \"by\"":"\u001b[2J"})");
  for (const std::string wrong : {"1", "[]", R"({"a":1})"}) {
    checkpoint.metadata(wrong);
    CHECK(error_of_planning(checkpoint).find("expected a \"__metadata__\" of texts, found " + wrong) !=
          std::string::npos);
  }
}

TEST_CASE("the bytes of an output, with larger elements first") {
  Checkpoint checkpoint;
  checkpoint.add("a.weight", "F32", "[1,3]", floats({-127, 0, 1})).add("b", "F16", "[1]", "12");
  checkpoint.add("c", "I64", "[1]", "12345678").metadata(R"({"format":"pt"})");
  const std::string header = R"({"__metadata__":{"format":"pt"},"c":{"dtype":"I64","shape":[1],"data_offsets":[0,8]},)"
                             R"("a.weight_scale":{"dtype":"F32","shape":[1,1],"data_offsets":[8,12]},)"
                             R"("b":{"dtype":"F16","shape":[1],"data_offsets":[12,14]},)"
                             R"("a.weight":{"dtype":"I8","shape":[1,3],"data_offsets":[14,17]}})";
  const std::string data = "12345678" + floats({1}) + "12" + std::string("\x81\x00\x01", 3);
  const auto output = [&] { return converted(checkpoint, Target::int8, {}).bytes; };
  CHECK(output() == files::safetensors(header, data));
  CHECK(output() == output());
}

TEST_CASE("names in the report are escaped") {
  Checkpoint checkpoint;
  checkpoint.add(R"(\u001b[2J.weight)", 1, 1, 1);
  CHECK(QuantisedFile(checkpoint).report().find("\n\\u001b[2J.weight  [1,1]") != std::string::npos);
}

TEST_SUITE_END();

}  // namespace ladon::weights
