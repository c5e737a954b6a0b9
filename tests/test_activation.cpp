// SiLU against libm in double; the oracle's layers meet the others, and exp, erf and tanh have a test of their own.
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>

#include <doctest/doctest.h>

#include <ladon/detail/layer/activation.hpp>
#include <ladon/detail/simd/vectors.hpp>

namespace {

using ladon::detail::simd::ArrayPack;
using Limits = std::numeric_limits<float>;
constexpr float infinity = Limits::infinity();

template <class Pack>
float silu(float x) {
  float y[Pack::lanes];
  ladon::detail::activate<ladon::Activation::silu>(Pack(Pack::broadcast(x))).store(y);
  return y[Pack::lanes - 1];
}

template <class Pack>
void check_ends() {
  CHECK(silu<Pack>(0.0f) == 0);
  CHECK(silu<Pack>(-infinity) == 0);
  CHECK(silu<Pack>(Limits::lowest()) == 0);
  CHECK(silu<Pack>(-90.0f) == 0);
  CHECK(silu<Pack>(infinity) == infinity);
  CHECK(silu<Pack>(Limits::max()) == Limits::max());
  CHECK(std::isnan(silu<Pack>(Limits::quiet_NaN())));
}

// The largest relative error from -87 up, in halves of epsilon.
template <class Pack>
double worst_error() {
  double worst = 0;
  for (std::uint64_t bits = 0; bits >> 32 == 0; bits += 49999) {
    const float x = std::bit_cast<float>(static_cast<std::uint32_t>(bits));
    if (!std::isfinite(x) || x < -87 || std::fabs(x) < 2 * Limits::min()) continue;
    const double truth = x / (1 + std::exp(-static_cast<double>(x)));
    worst = std::fmax(worst, std::fabs(silu<Pack>(x) - truth) / std::fabs(truth));
  }
  return worst / 0x1p-24;
}

using Vector = ladon::detail::simd::NativeVectors::Pack<ladon::detail::simd::NativeVectors::lanes>;

TEST_CASE("SiLU: its ends") {
  check_ends<ArrayPack<1>>();
  check_ends<Vector>();
}

TEST_CASE("SiLU: four units in the last place") {
  CHECK(worst_error<ArrayPack<1>>() <= 8);
  CHECK(worst_error<Vector>() <= 8);
}

}  // namespace
