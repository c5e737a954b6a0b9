// Tests that constant evaluation with LADON_DETERMINISTIC gives the bits that every target gives
// (test_deterministic.cpp).
#include <array>
#include <cstddef>
#include <cstdint>

#include <doctest/doctest.h>

#include <ladon/ladon.hpp>

#include "fingerprint.hpp"

static_assert(LADON_DETERMINISTIC && LADON_CONSTANT_EVALUATION);

namespace ladon_test {

namespace {

// Computes attention small enough for the compiler. The inputs are integers divided by 16, so they are exact.
constexpr std::array<float, 12> small_attention() {
  using Attention = ladon::MultiHeadAttention<ladon::Shape{.queries = 3, .model = 4, .heads = 2}, ladon::mask::Causal>;
  const auto numbers = [](auto& array, int step) {
    for (std::size_t i = 0; i < array.size(); ++i) {
      array[i] = static_cast<float>(static_cast<int>(i + 1) * step % 41 - 20) / 16;
    }
  };
  std::array<float, 12> x{}, in_bias{}, y{};
  std::array<float, 48> in_weight{};
  std::array<float, 16> out_weight{};
  std::array<float, 4> out_bias{};
  numbers(x, 7);
  numbers(in_weight, 11);
  numbers(in_bias, 17);
  numbers(out_weight, 23);
  numbers(out_bias, 29);
  Attention::Workspace workspace{};
  Attention::run(x, {.in_proj = {in_weight, in_bias}, .out_proj = {out_weight, out_bias}}, y, workspace);
  return y;
}
constexpr std::uint64_t bits_of(const std::array<float, 12>& y) {
  Fingerprint fingerprint;
  fingerprint.add(y);
  return fingerprint.value();
}
constexpr std::uint64_t small_bits = 0x294dab33b1511003;
static_assert(bits_of(small_attention()) == small_bits);

}  // namespace

TEST_CASE("the same bits: in constant evaluation") { CHECK(bits_of(small_attention()) == small_bits); }

}  // namespace ladon_test
