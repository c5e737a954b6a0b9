// Tests the conversion of a checkpoint to BF16: which tensors are converted, the converted numbers, and the bytes of
// the output file.
#include <doctest/doctest.h>

#include <cmath>
#include <cstdint>
#include <ladon/bfloat16.hpp>
#include <limits>
#include <random>

#include "converting.hpp"
#include "packing.hpp"

namespace ladon::weights {
namespace {

using files::Checkpoint, files::floats;

std::string error_of_rounding(const Checkpoint& checkpoint, const Selection& selection = {}) {
  return error_of_converting(checkpoint, Target::bfloat16, selection);
}

ConvertedFile rounded(const Checkpoint& checkpoint, const Selection& selection = {}) {
  return {checkpoint, Target::bfloat16, selection};
}

// Returns the BF16 bytes of the values.
std::string in_bf16(const std::vector<float>& values) {
  std::vector<std::uint16_t> bits;
  for (const float value : values) bits.push_back(ladon::to_bfloat16(value).bits);
  return halves(bits);
}

std::vector<float> random_weights(std::size_t size) {
  std::mt19937 random(1);
  std::normal_distribution<float> normal;
  std::vector<float> values(size);
  for (float& value : values) value = std::exp(3 * normal(random)) * normal(random);
  return values;
}

}  // namespace

TEST_SUITE_BEGIN("convert");

TEST_CASE("a small weight: its bits and the report") {
  Checkpoint checkpoint;
  // 1 + 2^-8 and 1 + 3 * 2^-8 are each halfway between two bfloat16 numbers. Each is rounded to the bfloat16 number
  // whose last bit is 0: to 1, and to 1 + 2^-6.
  checkpoint.add("fc.weight", "F32", "[2,3]", floats({1, -2, 0x1.01p0f, 0x1.03p0f, -0.0f, 4}));
  checkpoint.add("fc.bias", 2, 5);
  const ConvertedFile result = rounded(checkpoint);
  CHECK(result.tensor("fc.weight").dtype == "BF16");
  CHECK(result.tensor("fc.weight").shape == std::vector<std::uint64_t>{2, 3});
  CHECK(result.bytes("fc.weight") == halves({0x3F80, 0xC000, 0x3F80, 0x3F82, 0x8000, 0x4080}));
  CHECK(result.bytes("fc.bias") == floats({5, 6}));
  CHECK(result.file().tensors().size() == 2);
  // Two of the six weights have an error of 2^-8, and the others are exact. The squares of all weights add up to 23.03,
  // so the relative RMS error is 2^-8 sqrt(2 / 23.03) = 0.001151. The largest error is 2^-8, and the largest weight is
  // 4. Their quotient is 0.000977, which is the last column of the report.
  CHECK(result.report() ==
        "name       shape  relative RMS  largest error\n"
        "fc.weight  [2,3]  0.001151           0.000977\n"
        "1 tensor converted, 1 copied; 32 bytes before, 20 after\n");
}

TEST_CASE("the numbers are those of ladon::to_bfloat16, for odd sizes and rows that are read in parts") {
  const std::vector<float> small = random_weights(std::size_t{7} * 13), wide = random_weights(std::size_t{3} * 70'001);
  Checkpoint checkpoint;
  checkpoint.add("odd", "I8", "[1]", "x").add("a.weight", "F32", "[7,13]", floats(small));
  checkpoint.add("b.weight", "F32", "[3,70001]", floats(wide)).add("c.weight", "F32", "[1,1]", floats({0.1f}));
  const ConvertedFile result = rounded(checkpoint);
  CHECK(result.bytes("a.weight") == in_bf16(small));
  CHECK(result.bytes("b.weight") == in_bf16(wide));
  CHECK(result.bytes("c.weight") == in_bf16({0.1f}));
  CHECK(result.bytes("odd") == "x");
}

TEST_CASE("F16 weights are rounded; BF16 weights keep their bits") {
  Checkpoint checkpoint;
  checkpoint.add("half.weight", "F16", "[3,2]", halves({0x3C00, 0xC000, 0x0001, 0x7BFF, 0x3C01, 0x3C07}));
  checkpoint.add("brain.weight", "BF16", "[2,2]", halves({0x3F80, 0x7F81, 0x7F80, 0x0001}));
  const ConvertedFile result = rounded(checkpoint);
  CHECK(result.tensor("half.weight").dtype == "BF16");
  CHECK(result.bytes("half.weight") == in_bf16({1, -2, 0x1p-24f, 65504, 0x1.004p0f, 0x1.01cp0f}));
  CHECK(result.tensor("brain.weight").dtype == "BF16");
  CHECK(result.bytes("brain.weight") == halves({0x3F80, 0x7F81, 0x7F80, 0x0001}));
  CHECK(result.report().ends_with(
      "1 tensor converted, 1 copied (among them 1 weight that already was BF16); 20 bytes before, 20 after\n"));
}

TEST_CASE("tiny weights become subnormal or 0, and zeros have no error") {
  Checkpoint checkpoint;
  checkpoint.add("weight", "F32", "[2,2]", floats({1e-40f, -1e-44f, 0, -0.0f}));
  CHECK(rounded(checkpoint).bytes("weight") == halves({0x0001, 0x8000, 0x0000, 0x8000}));
  Checkpoint zeros;
  zeros.add("weight", "F32", "[1,2]", floats({0, 0}));
  CHECK(rounded(zeros).report().find("weight  [1,2]  0.000000           0.000000\n") != std::string::npos);
}

TEST_CASE("convert selects the tensors that quantise selects") {
  Checkpoint checkpoint;
  for (const std::string name : {"a.0.weight", "a.1.weight", "in_proj_weight"}) checkpoint.add(name, 2, 2, 1);
  for (const std::string name : {"embed.weight", "lm_head.weight", "tied.weight"}) checkpoint.add(name, 2, 2, 7);
  checkpoint.add("a.kernel", 2, 2, 1).add("norm.weight", 4, 1).add("q.weight", "I8", "[2,2]", "1234");
  checkpoint.add("q.weight_scale", 2, -1);  // convert does not read scales, because this file is not quantised
  const auto dtypes = [](const ConvertedFile& result) {
    std::string text;
    for (const auto& [name, tensor] : result.file().tensors()) text += name + " " + tensor.dtype + "\n";
    return text;
  };
  CHECK(dtypes(rounded(checkpoint, keeping({std::regex("1"), std::regex("^none")}))) ==
        "a.0.weight BF16\na.1.weight F32\na.kernel F32\nembed.weight F32\nin_proj_weight BF16\nlm_head.weight F32\n"
        "norm.weight F32\nq.weight I8\nq.weight_scale F32\ntied.weight F32\n");
  CHECK(dtypes(rounded(checkpoint, {{}, true})) ==
        "a.0.weight BF16\na.1.weight BF16\na.kernel F32\nembed.weight BF16\nin_proj_weight BF16\nlm_head.weight BF16\n"
        "norm.weight F32\nq.weight I8\nq.weight_scale F32\ntied.weight BF16\n");
}

TEST_CASE("a file without a matrix to convert is an error") {
  const std::string nothing =
      "m.safetensors: there is nothing to convert: expected a tensor of two dimensions, of dtype F32 or F16, with a "
      "name "
      "that ends in .weight or _proj_weight, found none that is not left out";
  Checkpoint checkpoint;
  checkpoint.add("norm.weight", 4, 1);
  CHECK(error_of_rounding(checkpoint) == nothing);
  checkpoint.add("fc.weight", "BF16", "[1,1]", "12");
  CHECK(error_of_rounding(checkpoint) == nothing + "; number of weights that are BF16 already: 1");
  checkpoint.add("other.weight", 2, 2, 1);
  CHECK(error_of_rounding(checkpoint).empty());
  CHECK(error_of_rounding(checkpoint, keeping({std::regex("other")})) ==
        nothing + "; number of weights that are BF16 already: 1");
}

TEST_CASE("norms and biases in 16 bits become F32, also if all matrices are BF16") {
  Checkpoint checkpoint;
  checkpoint.add("fc.weight", "BF16", "[1,2]", halves({0x3F80, 0x4000})).add("embed.weight", "F16", "[1,1]", "12");
  checkpoint.add("fc.bias", "BF16", "[2]", halves({0x4000, 0x7F80})).add("norm.weight", "F16", "[1]", halves({0x3C00}));
  const ConvertedFile result(checkpoint, Target::bfloat16);
  CHECK(result.bytes("fc.bias") == files::floats({2, INFINITY}));
  CHECK(result.bytes("norm.weight") == files::floats({1}));
  CHECK(result.bytes("fc.weight") == halves({0x3F80, 0x4000}));
  CHECK(result.tensor("embed.weight").dtype == "F16");
  CHECK(
      result.report().ends_with("0 tensors converted, 2 widened to F32, 2 copied (among them 1 weight that already was "
                                "BF16); 12 bytes before, 18 after\n"));
  CHECK(ConvertedFile(checkpoint, Target::bfloat16, keeping({std::regex("bias")})).tensor("fc.bias").dtype == "BF16");
}

TEST_CASE("all tensors in 16 bits become F32") {
  Checkpoint checkpoint;
  checkpoint.add("fc.weight", "BF16", "[1,2]", halves({0x3F80, 0x4000})).add("embed.weight", "F16", "[1]", halves({0}));
  checkpoint.add("other.weight", 2, 2, 1).add("ids", "I64", "[1]", "12345678");
  const ConvertedFile result(checkpoint, Target::float32);
  CHECK(result.bytes("fc.weight") == files::floats({1, 2}));
  CHECK(result.bytes("embed.weight") == files::floats({0}));
  CHECK(result.tensor("ids").dtype == "I64");
  CHECK(
      error_of_converting(Checkpoint().add("other.weight", 2, 2, 1), Target::float32) ==
      "m.safetensors: there is nothing to convert: expected a tensor of dtype F16 or BF16, found none that is not left "
      "out; number of weights that are F32 already: 1");
}

TEST_CASE("a wrong number of bytes is an error; the name of a scale is no error") {
  Checkpoint checkpoint;
  checkpoint.add("a.weight", 2, 2, 1).add("a.weight_scale", 2, 1);
  CHECK(error_of_rounding(checkpoint).empty());
  checkpoint.add("b.weight", "F16", "[2,2]", "123456").add("c.weight", "F32", "[4294967296,4294967296]", "");
  CHECK(error_of_rounding(checkpoint) ==
        "m.safetensors: cannot be converted\n"
        "  tensor \"b.weight\": expected 8 bytes of data, found 6\n"
        "  tensor \"c.weight\": expected 18446744073709551615 bytes of data, found 0");
}

TEST_CASE("the error for an infinite or NaN weight, or a weight that rounds to infinity, states its position") {
  constexpr float infinity = std::numeric_limits<float>::infinity(), most = 0x1.fefffep127f;
  const auto error_of = [](float bad) {
    Checkpoint checkpoint;
    checkpoint.add("a.weight", 2, 2, 1).add("b.weight", "F32", "[2,3]", floats({1, 2, 3, 4, bad, infinity}));
    CHECK(error_of_rounding(checkpoint, keeping({std::regex("^b")})).empty());
    return error_of_rounding(checkpoint);
  };
  const std::string before = "m.safetensors: tensor \"b.weight\": expected ";
  CHECK(error_of(NAN) == before + "finite weights, found NaN at row 1, column 1, counted from 0");
  CHECK(error_of(-infinity) == before + "finite weights, found an infinity at row 1, column 1, counted from 0");
  CHECK(error_of(most) == before + "finite weights, found an infinity at row 1, column 2, counted from 0");
  CHECK(error_of(-0x1.ffp127f) == before +
                                      "weights that are finite in bfloat16, found -3.39617753e+38 at row 1, column 1, "
                                      "counted from 0");
  Checkpoint largest;
  largest.add("weight", "F32", "[1,2]", floats({most, -most}));
  CHECK(rounded(largest).bytes("weight") == halves({0x7F7F, 0xFF7F}));
  std::vector<float> wide(70'000);
  wide[69'999] = std::numeric_limits<float>::max();
  Checkpoint checkpoint;
  checkpoint.add("a.weight", "F32", "[1,70000]", floats(wide));
  CHECK(error_of_rounding(checkpoint).ends_with("found 3.40282347e+38 at row 0, column 69999, counted from 0"));
  // The largest float32 cannot be converted to bfloat16, because it would become infinite. The conversion to int8 must
  // accept it.
  CHECK(error_of_converting(checkpoint, Target::int8).empty());
}

TEST_CASE("the bytes of an output, with larger elements first and the metadata") {
  Checkpoint checkpoint;
  checkpoint.add("a.weight", "F32", "[1,3]", floats({-127, 0, 1})).add("b", "U8", "[1]", "1");
  checkpoint.add("c", "F32", "[1]", floats({2})).metadata(R"({"format":"pt"})");
  const std::string header = R"({"__metadata__":{"format":"pt"},"c":{"dtype":"F32","shape":[1],"data_offsets":[0,4]},)"
                             R"("a.weight":{"dtype":"BF16","shape":[1,3],"data_offsets":[4,10]},)"
                             R"("b":{"dtype":"U8","shape":[1],"data_offsets":[10,11]}})";
  CHECK(converted(checkpoint, Target::bfloat16, {}).bytes ==
        files::safetensors(header, floats({2}) + in_bf16({-127, 0, 1}) + "1"));
}

TEST_CASE("for a kernel with bfloat16 weights, pack gives equal bits for the output and for the input") {
  Checkpoint checkpoint;
  add_bert_attention(checkpoint, "a.");
  const std::string spec =
      "in_proj_weight 4+2+2 4 bfloat16\nin_proj_bias 4+2+2\nout_proj_weight 4 4 bfloat16\nout_proj_bias 4\n";
  const Result direct = packed(checkpoint, spec, "a");
  const Result through_file = packed_file(converted(checkpoint, Target::bfloat16, {}).bytes, spec, "a");
  CHECK(through_file.packed.data == direct.packed.data);
  CHECK(through_file.packed.offsets == direct.packed.offsets);
  CHECK(through_file.left_out.empty());
}

TEST_SUITE_END();

}  // namespace ladon::weights
