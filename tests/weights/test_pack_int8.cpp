// Tests int8 members of a SPEC (src/weights/spec.hpp). ladon-weights quantises float weights for these members, or
// copies int8 weights from the checkpoint.
#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <ladon/quantise.hpp>
#include <limits>

#include "packing.hpp"

namespace ladon::weights {
namespace {

using files::Checkpoint, files::counted, files::floats;

const std::string in_proj_int8 =
    "in_proj_weight 4+2+2 4 int8\nin_proj_bias 4+2+2\nout_proj_weight 4 4 int8\nout_proj_bias 4\n";
const std::string separate_int8 =
    "query_proj_weight 4 4 int8\nquery_proj_bias 4\nkey_proj_weight 2 4 int8\nkey_proj_bias 2\n"
    "value_proj_weight 2 4 int8\nvalue_proj_bias 2\nout_proj_weight 4 4 int8\nout_proj_bias 4\n";

std::vector<std::int8_t> bytes_from(std::size_t size, int first) {
  std::vector<std::int8_t> values(size);
  for (std::size_t i = 0; i < size; ++i) values[i] = static_cast<std::int8_t>(first + static_cast<int>(i) * 5);
  return values;
}

std::string text_of(const std::vector<std::int8_t>& values) { return {values.begin(), values.end()}; }

void add_int8(Checkpoint& checkpoint, const std::string& name, std::size_t rows, int first, float first_scale) {
  checkpoint.add(name, "I8", "[" + std::to_string(rows) + ",4]", text_of(bytes_from(rows * 4, first)));
  checkpoint.add(name + "_scale", rows, 1, first_scale);
}

// Checks the int8 weights, the scales and the row sums of the member `name`, which has `Out` rows and `In` columns.
template <std::size_t Out, std::size_t In>
void check_int8(const Result& result, const std::string& name, const std::vector<std::int8_t>& weight,
                const std::vector<float>& scale) {
  CAPTURE(name);
  std::vector<std::int32_t> sums(Out);
  ladon::row_sums<Out, In>(weight.data(), sums.data());
  CHECK(result.elements<std::int8_t>(name, Out * In) == weight);
  CHECK(result.values(name + "_scale", Out) == scale);
  CHECK(result.elements<std::int32_t>(name + "_row_sum", Out) == sums);
}

// Checks that the member `name` holds the results of ladon::quantise for the float weights `weight`.
template <std::size_t Out, std::size_t In>
void check_quantised(const Result& result, const std::string& name, const std::vector<float>& weight) {
  const std::array<float, Out> bias{};
  std::vector<std::int8_t> expected(Out * In);
  std::vector<float> scale(Out);
  REQUIRE(ladon::quantise(ladon::Linear<Out, In>{weight.data(), bias}, expected.data(), scale.data()));
  check_int8<Out, In>(result, name, expected, scale);
}

// Returns a checkpoint of an attention with int8 weights and the tensor names of PyTorch.
Checkpoint int8_attention() {
  Checkpoint checkpoint;
  add_int8(checkpoint, "in_proj_weight", 8, -70, 1);
  add_int8(checkpoint, "out_proj.weight", 4, 20, 20);
  checkpoint.add("in_proj_bias", 8, 100).add("out_proj.bias", 4, 300);
  return checkpoint;
}

const std::string refused = "m.safetensors: is not what the kernel needs\n  ";

// Packs an int8 out_proj.weight. The scale has the given `dtype`, `shape` and `bytes`. Returns the text of the error.
std::string complaint_of_scale(const std::string& dtype, const std::string& shape, const std::string& bytes) {
  Checkpoint checkpoint;
  checkpoint.add("out_proj.weight", "I8", "[4,4]", std::string(16, '\1'));
  checkpoint.add("out_proj.weight_scale", dtype, shape, bytes);
  return complaint(checkpoint, "out_proj_weight 4 4 int8\n", "");
}

}  // namespace

TEST_SUITE_BEGIN("pack_int8");

TEST_CASE("float weights become the numbers of ladon::quantise") {
  Checkpoint checkpoint;
  add_bert_attention(checkpoint, "a.");
  const Result joined = packed(checkpoint, in_proj_int8, "a");
  check_quantised<8, 4>(joined, "in_proj_weight", counted(32, 0));
  check_quantised<4, 4>(joined, "out_proj_weight", counted(16, 200));
  CHECK(joined.values("in_proj_bias", 8) == counted(8, 100));
  CHECK(joined.values("out_proj_bias", 4) == counted(4, 300));
  CHECK(joined.constant("floats") * sizeof(float) == joined.packed.data.size());
  CHECK(joined.left_out.empty());

  Checkpoint pytorch;
  add_pytorch_attention(pytorch, "");
  const Result apart = packed(pytorch, separate_int8, "");
  check_quantised<4, 4>(apart, "query_proj_weight", counted(16, 0));
  check_quantised<2, 4>(apart, "key_proj_weight", counted(8, 16));
  check_quantised<2, 4>(apart, "value_proj_weight", counted(8, 24));
}

TEST_CASE("float weights of a rotated member become the numbers of ladon::quantise_rotated") {
  Checkpoint checkpoint;
  checkpoint.add("linear1.weight", 2, 16, 3);
  const Result result = packed(checkpoint, "linear1_weight 2 16 int8 rotated\n", "");
  const std::vector<float> weight = counted(32, 3);
  const std::array<float, 2> bias{};
  std::array<std::int8_t, 32> integers{};
  std::array<float, 2> scale{};
  REQUIRE(ladon::quantise_rotated(ladon::Linear<2, 16>{weight.data(), bias}, integers, scale));
  check_int8<2, 16>(result, "linear1_weight", {integers.begin(), integers.end()}, {scale.begin(), scale.end()});
  CHECK(complaint(checkpoint, "linear1_weight 2 12 int8 rotated\n", "")
            .ends_with("line 1: expected a multiple of 8 columns of linear1_weight, found 12"));
}

TEST_CASE("float weights of int4 members become the numbers of ladon::quantise_int4") {
  Checkpoint checkpoint;
  checkpoint.add("linear1.weight", 2, 40, 3);
  const std::vector<float> weight = counted(80, 3);
  const std::array<float, 2> bias{};
  const ladon::Linear<2, 40> linear{weight.data(), bias};
  constexpr std::size_t bytes = 2 * ladon::int4_row_bytes(40);
  for (const bool rotated : {false, true}) {
    std::vector<std::uint8_t> codes(bytes);
    std::vector<float> scale(2);
    std::vector<std::int32_t> sums(2);
    REQUIRE((rotated ? ladon::quantise_rotated_int4(linear, codes.data(), scale.data())
                     : ladon::quantise_int4(linear, codes.data(), scale.data())));
    ladon::int4_row_sums<2, 40>(codes.data(), sums.data());
    const Result result =
        packed(checkpoint, rotated ? "linear1_weight 2 40 int4 rotated\n" : "linear1_weight 2 40 int4\n", "");
    CHECK(result.elements<std::uint8_t>("linear1_weight", bytes) == codes);
    CHECK(result.values("linear1_weight_scale", 2) == scale);
    CHECK(result.elements<std::int32_t>("linear1_weight_row_sum", 2) == sums);
  }
}

TEST_CASE("int4 weights and their scales are copied unchanged") {
  const std::size_t bytes = ladon::int4_row_bytes(40);
  std::string codes(2 * bytes, '\0');
  for (std::size_t i = 0; i < codes.size(); ++i) codes[i] = static_cast<char>(7 * i);
  const auto with_scales = [&](const std::vector<float>& scales) {
    Checkpoint checkpoint;
    checkpoint.add("linear1.weight", "U8", "[2," + std::to_string(bytes) + "]", codes);
    checkpoint.add("linear1.weight_scale", "F32", "[2,1]", floats(scales));
    return checkpoint;
  };
  const std::string plain = "linear1_weight 2 40 int4\n", rotated = "linear1_weight 2 40 int4 rotated\n";
  std::vector<std::int32_t> sums(2);
  ladon::int4_row_sums<2, 40>(reinterpret_cast<const std::uint8_t*>(codes.data()), sums.data());
  for (const float sign : {1.0f, -1.0f}) {
    const Result result = packed(with_scales({0, sign * 2}), sign > 0 ? plain : rotated, "");  // 0: a row of zeros
    CHECK(result.elements<char>("linear1_weight", codes.size()) == std::vector<char>(codes.begin(), codes.end()));
    CHECK(result.values("linear1_weight_scale", 2) == std::vector<float>{0, sign * 2});
    CHECK(result.elements<std::int32_t>("linear1_weight_row_sum", 2) == sums);
    CHECK(result.left_out.empty());
  }
  const std::string weight = refused + "linear1_weight: tensor \"linear1.weight\": ";
  const std::string scale = refused + "linear1_weight: tensor \"linear1.weight_scale\": expected ";
  CHECK(complaint(with_scales({1, -1}), plain, "").starts_with(scale + "positive and finite scales"));
  CHECK(complaint(with_scales({0, 1}), rotated, "").starts_with(scale + "negative and finite scales"));
  CHECK(complaint(with_scales({1, 1}), "linear1_weight 2 72 int4\n", "") ==
        weight + "expected shape [2,50], found [2,33]");
  CHECK(complaint(with_scales({1, 1}), "linear1_weight 2 40 int8\n", "") ==
        weight + "expected dtype F32, F16 or BF16, found \"U8\"");
  Checkpoint mixed = with_scales({1, 1});
  mixed.add("linear2.weight", 40, 2, 0);
  CHECK(complaint(mixed, plain + "linear2_weight 40 2 int4\n", "")
            .find("a linear map that was kept in float does not "
                  "fit a kernel of int4") != std::string::npos);
}

TEST_CASE("an int4 member takes no int8 weights") {
  Checkpoint checkpoint;
  add_int8(checkpoint, "linear1.weight", 1, 20, 1);
  CHECK(complaint(checkpoint, "linear1_weight 1 4 int4\n", "").find("expected dtype F32, F16 or BF16, found \"I8\"") !=
        std::string::npos);
}

TEST_CASE("weights of GPTQ are named as such") {
  Checkpoint checkpoint;
  checkpoint.add("linear1.qweight", "I32", "[1,4]", std::string(16, 'x')).add("linear1.bias", 4, 1);
  CHECK(complaint(checkpoint, "linear1_weight 4 8 int4\nlinear1_bias 4\n", "")
            .find("the checkpoint has weights of GPTQ or AWQ, such as \"linear1.qweight\"") != std::string::npos);
}

TEST_CASE("the sign of the scales tells whether int8 weights are rotated") {
  const std::string rotated = "linear1_weight 1 8 int8 rotated\n", plain = "linear1_weight 1 8 int8\n";
  const auto with_scale = [](float scale) {
    Checkpoint checkpoint;
    checkpoint.add("linear1.weight", "I8", "[1,8]", "12345678")
        .add("linear1.weight_scale", "F32", "[1]", floats({scale}));
    return checkpoint;
  };
  const std::string tensor = refused + "linear1_weight: tensor \"linear1.weight_scale\": ";
  CHECK(complaint(with_scale(1), plain, "").empty());
  CHECK(complaint(with_scale(-1), rotated, "").empty());
  CHECK(complaint(with_scale(-1), plain, "") ==
        tensor + "expected positive and finite scales, found -1.000000 at row 0");
  CHECK(complaint(with_scale(1), rotated, "") ==
        tensor + "expected negative and finite scales, as of rotated weights, found 1.000000 at row 0");
}

TEST_CASE("F16 and BF16 weights are widened before they are quantised") {
  const std::string halves("\x00\x3c\x00\xc0\x00\x00\x00\x38", 8), brains("\x80\x3f\x00\xc0\x00\x00\x00\x3f", 8);
  for (const auto& [dtype, bytes] : {std::pair{"F16", halves}, std::pair{"BF16", brains}}) {
    Checkpoint checkpoint;
    checkpoint.add("linear1.weight", dtype, "[2,2]", bytes);
    check_quantised<2, 2>(packed(checkpoint, "linear1_weight 2 2 int8\n", ""), "linear1_weight", {1, -2, 0, 0.5f});
  }
}

TEST_CASE("a row of zeros stays a row of zeros, with the scale 1") {
  Checkpoint checkpoint;
  checkpoint.add("linear1.weight", "F32", "[2,2]", floats({0, 0, 1, -2}));
  check_int8<2, 2>(packed(checkpoint, "linear1_weight 2 2 int8\n", ""), "linear1_weight", {0, 0, 64, -127},
                   {1, 2.0f / 127});
}

TEST_CASE("int8 weights and their scales are copied unchanged") {
  const auto check = [](const Result& result) {
    check_int8<8, 4>(result, "in_proj_weight", bytes_from(32, -70), counted(8, 1));
    check_int8<4, 4>(result, "out_proj_weight", bytes_from(16, 20), counted(4, 20));
    CHECK(result.values("in_proj_bias", 8) == counted(8, 100));
    CHECK(result.left_out.empty());
  };
  check(packed(int8_attention(), in_proj_int8, ""));

  Checkpoint bert;
  add_int8(bert, "a.self.query.weight", 4, -70, 1);
  add_int8(bert, "a.self.key.weight", 2, 10, 5);
  add_int8(bert, "a.self.value.weight", 2, 50, 7);
  add_int8(bert, "a.output.dense.weight", 4, 20, 20);
  bert.add("a.self.query.bias", 4, 100).add("a.self.key.bias", 2, 104).add("a.self.value.bias", 2, 106);
  bert.add("a.output.dense.bias", 4, 300);
  check(packed(bert, in_proj_int8, "a"));

  const Result apart = packed(int8_attention(), separate_int8, "");
  check_int8<4, 4>(apart, "query_proj_weight", bytes_from(16, -70), counted(4, 1));
  check_int8<2, 4>(apart, "key_proj_weight", bytes_from(8, 10), counted(2, 5));
  check_int8<2, 4>(apart, "value_proj_weight", bytes_from(8, 50), counted(2, 7));
}

TEST_CASE("scales of one dimension, and of 16 bits; zero points that are 0; the integer -128") {
  const std::string halves("\x00\x3c\x00\x40", 4), brains("\x80\x3f\x00\x40", 4);
  for (const auto& [dtype, shape, bytes] : {std::tuple{"F32", "[2]", floats({1, 2})},
                                            std::tuple{"F16", "[2,1]", halves}, std::tuple{"BF16", "[2]", brains}}) {
    Checkpoint checkpoint;
    checkpoint.add("linear1.weight", "I8", "[2,2]", text_of({-128, 3, 127, 0}));
    checkpoint.add("linear1.weight_scale", dtype, shape, bytes);
    checkpoint.add("linear1.weight_zero_point", "I8", "[2,1]", std::string(2, '\0'));
    check_int8<2, 2>(packed(checkpoint, "linear1_weight 2 2 int8\n", ""), "linear1_weight", {-128, 3, 127, 0}, {1, 2});
  }
}

TEST_CASE("a linear map with float weights is refused by name") {
  Checkpoint checkpoint;
  add_int8(checkpoint, "in_proj_weight", 8, -70, 1);
  checkpoint.add("out_proj.weight", 4, 4, 0).add("in_proj_bias", 8, 100).add("out_proj.bias", 4, 300);
  CHECK(complaint(checkpoint, in_proj_int8, "") ==
        refused +
            "out_proj_weight: tensor \"out_proj.weight\": expected dtype I8, because the file has int8 weights such as "
            "\"in_proj_weight\", found \"F32\": a linear map that was kept in float does not fit a kernel of int8");
  // A kernel with float32 weights refuses a checkpoint with int8 weights.
  CHECK(complaint(int8_attention(), in_proj_spec, "") ==
        refused +
            "in_proj_weight: tensor \"in_proj_weight\": expected dtype F32, F16 or BF16, found \"I8\"\n"
            "  out_proj_weight: tensor \"out_proj.weight\": expected dtype F32, F16 or BF16, found \"I8\"");
}

TEST_CASE("int8 weights that do not fit the kernel") {
  const std::string spec = "out_proj_weight 4 4 int8\n", ones(16, '\1'), scale = floats({1, 1, 1, 1});
  const std::string weight = refused + "out_proj_weight: tensor \"out_proj.weight\": ";
  Checkpoint wide, unscaled, shifted;
  wide.add("out_proj.weight", "I8", "[2,8]", ones).add("out_proj.weight_scale", "F32", "[4]", scale);
  CHECK(complaint(wide, spec, "") == weight + "expected shape [4,4], found [2,8]");
  unscaled.add("out_proj.weight", "I8", "[4,4]", ones);
  CHECK(complaint(unscaled, spec, "") ==
        weight + "expected the scales of its rows in \"out_proj.weight_scale\", found no such tensor");
  shifted.add("out_proj.weight", "I8", "[4,4]", ones).add("out_proj.weight_scale", "F32", "[4]", scale);
  shifted.add("out_proj.weight_zero_point", "I8", "[4]", std::string("\0\0\1\0", 4));
  CHECK(complaint(shifted, spec, "") == weight +
                                            "expected symmetric int8 weights, found zero points other than 0 in "
                                            "\"out_proj.weight_zero_point\"");
}

TEST_CASE("scales that do not fit the weight") {
  constexpr float nan = std::numeric_limits<float>::quiet_NaN(), infinity = std::numeric_limits<float>::infinity();
  const std::string scale = refused + "out_proj_weight: tensor \"out_proj.weight_scale\": ";
  const std::string ones = floats({1, 1, 1, 1}), positive = scale + "expected positive and finite scales, found ";
  CHECK(complaint_of_scale("F32", "[4]", ones).empty());
  CHECK(complaint_of_scale("F32", "[1]", floats({1})) == scale + "expected shape [4,1] or [4], found [1]");
  CHECK(complaint_of_scale("F32", "[1,4]", ones) == scale + "expected shape [4,1] or [4], found [1,4]");
  CHECK(complaint_of_scale("I32", "[4]", ones) == scale + "expected dtype F32, F16 or BF16, found \"I32\"");
  CHECK(complaint_of_scale("F32", "[4]", floats({1, 1, 1})) == scale + "expected 16 bytes of data, found 12");
  CHECK(complaint_of_scale("F32", "[4]", floats({1, 1, 0, 1})) == positive + "0.000000 at row 2");
  CHECK(complaint_of_scale("F32", "[4]", floats({1, -1, 1, 1})) == positive + "-1.000000 at row 1");
  CHECK(complaint_of_scale("F32", "[4]", floats({nan, 1, 1, 1})) == positive + "nan at row 0");
  CHECK(complaint_of_scale("F32", "[4]", floats({1, 1, 1, infinity})) == positive + "inf at row 3");
}

TEST_CASE("a weight that is infinite or NaN") {
  Checkpoint checkpoint;
  checkpoint.add("self.query.weight", 4, 4, 0).add("self.key.weight", 2, 4, 0);
  auto value = counted(8, 0);
  value[6] = std::numeric_limits<float>::quiet_NaN();
  checkpoint.add("self.value.weight", "F32", "[2,4]", floats(value));
  CHECK(complaint(checkpoint, "in_proj_weight 4+2+2 4 int8\n", "") ==
        "m.safetensors: tensor \"self.value.weight\": expected finite weights, found NaN at row 1, column 2, counted "
        "from 0");
  Checkpoint pytorch;
  auto rows = counted(32, 0);
  rows[21] = -std::numeric_limits<float>::infinity();
  pytorch.add("in_proj_weight", "F32", "[8,4]", floats(rows));
  const std::string separate = "query_proj_weight 4 4 int8\nkey_proj_weight 2 4 int8\nvalue_proj_weight 2 4 int8\n";
  CHECK(complaint(pytorch, separate, "") ==
        "m.safetensors: tensor \"in_proj_weight\": expected finite weights, found an infinity at row 5, column 1, "
        "counted "
        "from 0");
}

TEST_SUITE_END();

}  // namespace ladon::weights
