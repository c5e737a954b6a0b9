// Tests the conversion of F16 and BF16 to float32, with all 65536 numbers of each format.
#include <doctest/doctest.h>

#include <bit>
#include <cmath>
#include <cstring>

#include "floats.hpp"
#include "packing.hpp"

namespace ladon::weights {
namespace {

// Decodes an F16 or a BF16 in double arithmetic. From the highest bit of `bits` to the lowest, the formats have a sign
// bit, `exponent_bits` bits of exponent, and `fraction_bits` bits of fraction.
double value_of(unsigned bits, int exponent_bits, int fraction_bits) {
  const int bias = (1 << (exponent_bits - 1)) - 1;
  const int exponent = static_cast<int>(bits >> fraction_bits) & ((1 << exponent_bits) - 1);
  const double fraction = std::ldexp(bits & ((1U << fraction_bits) - 1), -fraction_bits);
  double value = exponent == 0 ? std::ldexp(fraction, 1 - bias) : std::ldexp(1 + fraction, exponent - bias);
  if (exponent == (1 << exponent_bits) - 1) value = fraction == 0 ? HUGE_VAL : NAN;
  return (bits >> (exponent_bits + fraction_bits)) != 0 ? -value : value;
}

std::uint32_t widened(std::string_view dtype, std::uint16_t half) {
  std::string bytes;
  append_floats(dtype, std::as_bytes(std::span(&half, 1)), bytes);
  std::uint32_t bits = 0;
  REQUIRE(bytes.size() == sizeof(bits));
  std::memcpy(&bits, bytes.data(), sizeof(bits));
  return bits;
}

// Returns whether `bits` are the exact result of a conversion. A NaN must keep its sign and its payload, even if the
// NaN is signalling.
bool is_exact(std::uint32_t bits, double expected, std::uint32_t nan_bits) {
  if (std::isnan(expected)) return bits == nan_bits;
  const double found = std::bit_cast<float>(bits);
  return found == expected && std::signbit(found) == std::signbit(expected);
}

}  // namespace

TEST_SUITE_BEGIN("floats");

TEST_CASE("every F16 is exact: normal, subnormal, zero, infinite, not a number") {
  int wrong = 0;
  for (unsigned half = 0; half < 65536; ++half) {
    const std::uint32_t nan = (half & 0x8000U) << 16 | 0x7F800000U | (half & 0x3FFU) << 13;
    if (!is_exact(widened("F16", static_cast<std::uint16_t>(half)), value_of(half, 5, 10), nan)) ++wrong;
  }
  CHECK(wrong == 0);
  CHECK(widened("F16", 0x3C00) == std::bit_cast<std::uint32_t>(1.0f));
  CHECK(widened("F16", 0x0001) == std::bit_cast<std::uint32_t>(0x1p-24f));
  CHECK(widened("F16", 0xFBFF) == std::bit_cast<std::uint32_t>(-65504.0f));
}

TEST_CASE("every BF16 is exact") {
  int wrong = 0;
  for (unsigned half = 0; half < 65536; ++half)
    if (!is_exact(widened("BF16", static_cast<std::uint16_t>(half)), value_of(half, 8, 7), half << 16)) ++wrong;
  CHECK(wrong == 0);
  CHECK(widened("BF16", 0x3FC0) == std::bit_cast<std::uint32_t>(1.5f));
}

TEST_CASE("F32 keeps its bits, also those of a signalling NaN") {
  const std::uint32_t bits[] = {0x7F800001U, 0x80000000U, 0x00000001U, 0xFF800000U};
  std::string bytes;
  append_floats("F32", std::as_bytes(std::span(bits)), bytes);
  REQUIRE(bytes.size() == sizeof(bits));
  CHECK(std::memcmp(bytes.data(), bits, sizeof(bits)) == 0);
}

TEST_CASE("other types are not widened") {
  for (const char* dtype : {"F64", "I8", "U8", "I64", "BOOL", "F8_E4M3", "F8_E5M2", "f32", ""})
    CHECK(bytes_of_float(dtype) == 0);
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
