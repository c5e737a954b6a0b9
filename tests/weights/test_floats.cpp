// Tests the conversion of F16 and BF16 to float32, with all 65536 numbers of each format.
#include <doctest/doctest.h>

#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <string_view>

#include "byte_order.hpp"
#include "floats.hpp"

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
  const std::uint16_t in_file = files::swapped_if_big_endian(half);
  std::string bytes;
  append_floats(dtype, std::as_bytes(std::span(&in_file, 1)), bytes);
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
  const std::string in_file("\x01\x00\x80\x7F\x00\x00\x00\x80\x01\x00\x00\x00\x00\x00\x80\xFF", 16);
  std::string bytes;
  append_floats("F32", std::as_bytes(std::span(in_file)), bytes);
  REQUIRE(bytes.size() == sizeof(bits));
  CHECK(std::memcmp(bytes.data(), bits, sizeof(bits)) == 0);
}

TEST_CASE("other types are not widened") {
  for (const char* dtype : {"F64", "I8", "U8", "I64", "BOOL", "F8_E4M3", "F8_E5M2", "f32", ""})
    CHECK(bytes_of_float(dtype) == 0);
}

TEST_SUITE_END();

}  // namespace ladon::weights
