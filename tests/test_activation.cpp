// Compares every activation with libm in double. test_encoder compares whole layers with the oracle, and
// test_elementary checks exp, erf and tanh.
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <limits>

#include <doctest/doctest.h>

#include <ladon/detail/layer/activation.hpp>
#include <ladon/detail/vec/choose.hpp>

namespace {

using ladon::Activation;
using ladon::detail::vec::ArrayPack;
using Limits = std::numeric_limits<float>;
constexpr float infinity = Limits::infinity();

// Applies the activation F to a pack whose lanes are all x. Returns the last lane.
template <Activation F, class Pack>
float activated(float x) {
  float y[Pack::lanes];
  ladon::detail::activate<F>(Pack(Pack::broadcast(x))).store(y);
  return y[Pack::lanes - 1];
}

template <class Pack>
float silu(float x) {
  return activated<Activation::silu, Pack>(x);
}

// xIELU with two learned numbers.
constexpr ladon::detail::Activate<Activation::xielu> xielu{0.8f, 1.3f};

// Returns activation(x), computed by libm in double. The switch has no default: -Werror=switch rejects an enumerator
// without a case.
double truth(Activation activation, double x) {
  switch (activation) {
    case Activation::relu:
      return x < 0 ? 0 : x;
    case Activation::gelu:
      return 0.5 * x * std::erfc(-x / std::sqrt(2.0));
    case Activation::gelu_tanh:
      return 0.5 * x * (1 + std::tanh(std::sqrt(2 / 3.14159265358979323846) * (x + 0.044715 * x * x * x)));
    case Activation::silu:
      return x / (1 + std::exp(-x));
    case Activation::quick_gelu:
      return x / (1 + std::exp(static_cast<double>(-1.702f) * x));
    case Activation::squared_relu:
      return x < 0 ? 0 : x * x;
    case Activation::xielu:
      return x / 2 + (x > 0 ? static_cast<double>(xielu.positive) * x * x
                            : static_cast<double>(xielu.negative) * (std::expm1(std::fmin(x, -1e-6)) - x));
  }
  return Limits::quiet_NaN();
}

// Checks that `activate` has an absolute error of at most 2^-21 |x| for every tested x in [-12, 12].
template <Activation F, class Pack>
void check_values() {
  for (int i = -768; i <= 768; ++i) {
    const float x = static_cast<float>(i) / 64;
    CAPTURE(x);
    CHECK(std::fabs(activated<F, Pack>(x) - truth(F, x)) <= 0x1p-21 * std::fabs(x));
  }
}

// Checks activate_hidden for features that the next product rounds. The absolute error must be at most 2.5e-6 |x|. If
// the function uses a table (detail/layer/activation.hpp), the result for |x| >= 5 must be exactly x or 0.
template <Activation F, class Pack>
void check_rounded_values() {
  for (int i = -768; i <= 768; ++i) {
    const float x = static_cast<float>(i) / 64;
    CAPTURE(x);
    float y[Pack::lanes];
    Pack packs[1]{Pack::broadcast(x)};
    ladon::detail::activate_hidden<F, true>(packs);
    packs[0].store(y);
    CHECK(std::fabs(y[Pack::lanes - 1] - truth(F, x)) <= 2.5e-6 * std::fabs(x));
    if (ladon::detail::uses_gelu_table<F> && std::fabs(x) >= 5) CHECK(y[Pack::lanes - 1] == (x < 0 ? 0 : x));
  }
}

// Zeros, infinities, NaN, the ends of float's range, subnormals, and numbers near the bounds of the formulas.
constexpr float special_numbers[] = {0.0f,          -0.0f,
                                     infinity,      -infinity,
                                     1.0f,          Limits::quiet_NaN(),
                                     Limits::max(), Limits::lowest(),
                                     Limits::min(), -Limits::min(),
                                     1e-40f,        -1e-40f,
                                     1e-45f,        -1e-45f,
                                     1e19f,         -1e19f,
                                     126.5f,        -126.5f,
                                     -126.0f,       -127.0f,
                                     -105.0f,       -88.73f,
                                     -88.7f,        -87.3f,
                                     88.7f,         -10.0f,
                                     -10.01f,       -6.01f,
                                     -9.99f,        -6.0f,
                                     -5.7f,         5.7f,
                                     -5.0f,         -5.01f,
                                     5.0f,          -4.99f,
                                     0x1p-24f,      -0x1p-24f};
constexpr std::size_t special_count = std::size(special_numbers);

// Checks N packs that hold consecutive special numbers, which shows that a NaN in one lane changes no other lane.
template <Activation F, bool Rounded, class Pack, std::size_t N>
void check_special_numbers() {
  constexpr std::size_t lanes = Pack::lanes;
  for (std::size_t first = 0; first < special_count; first += N * lanes) {
    float x[N * lanes], y[N * lanes];
    for (std::size_t i = 0; i < N * lanes; ++i) x[i] = special_numbers[(first + i) % special_count];
    Pack packs[N];
    for (std::size_t i = 0; i < N; ++i) packs[i] = Pack::load(x + i * lanes);
    ladon::detail::activate_hidden<F, Rounded>(packs);
    for (std::size_t i = 0; i < N; ++i) packs[i].store(y + i * lanes);
    for (std::size_t i = 0; i < N * lanes; ++i) {
      CAPTURE(x[i]);
      const double expected = x[i] == -infinity ? 0 : truth(F, x[i]);
      if (std::isnan(expected)) {
        CHECK(std::isnan(y[i]));
      } else if (std::isinf(expected)) {
        CHECK(y[i] == infinity);
      } else {
        // For x below -10, gelu_tanh is -1.2e-37. For x below -88.7, SiLU is 0.
        const double error = (Rounded ? 2.5e-6 : 0x1p-21) * (x[i] < -12 ? std::fabs(expected) : std::fabs(x[i]));
        CHECK(std::fabs(y[i] - expected) <= error + 3e-37);
      }
    }
  }
}
template <Activation F, class Pack>
void check_special_numbers() {
  check_special_numbers<F, false, Pack, 1>();
  check_special_numbers<F, false, Pack, 4>();
  check_special_numbers<F, true, Pack, 1>();
  check_special_numbers<F, true, Pack, 4>();
}

// Returns the largest relative error of SiLU, x / (1 + e^-x), in units of 2^-24, for x >= -87. Smaller x are not
// tested: below -88.7, e^-x overflows, and SiLU gives 0.
template <class Pack>
double worst_error() {
  double worst = 0;
  for (std::uint64_t bits = 0; bits >> 32 == 0; bits += 49999) {
    const float x = std::bit_cast<float>(static_cast<std::uint32_t>(bits));
    if (!std::isfinite(x) || x < -87 || std::fabs(x) < 2 * Limits::min()) continue;
    const double expected = truth(Activation::silu, x);
    worst = std::fmax(worst, std::fabs(silu<Pack>(x) - expected) / std::fabs(expected));
  }
  return worst / 0x1p-24;
}

using Vector = ladon::detail::vec::NativeVectors::Pack<ladon::detail::vec::NativeVectors::lanes>;

TEST_CASE_TEMPLATE("every activation: values", Pack, ArrayPack<1>, Vector) {
  check_values<Activation::relu, Pack>();
  check_values<Activation::gelu, Pack>();
  check_values<Activation::gelu_tanh, Pack>();
  check_values<Activation::silu, Pack>();
  check_values<Activation::quick_gelu, Pack>();
  check_values<Activation::squared_relu, Pack>();
}

TEST_CASE_TEMPLATE("activations of features that will be quantised: values", Pack, ArrayPack<1>, Vector) {
  check_rounded_values<Activation::gelu, Pack>();
  check_rounded_values<Activation::gelu_tanh, Pack>();
}

TEST_CASE_TEMPLATE("every activation: zeros, infinities, NaN, subnormals and the largest floats", Pack, ArrayPack<1>,
                   ArrayPack<3>, Vector) {
  check_special_numbers<Activation::relu, Pack>();
  check_special_numbers<Activation::gelu, Pack>();
  check_special_numbers<Activation::gelu_tanh, Pack>();
  check_special_numbers<Activation::silu, Pack>();
  check_special_numbers<Activation::quick_gelu, Pack>();
}

// The same numbers in constant evaluation.
template <Activation F>
constexpr float constant(float x) {
  return ladon::detail::activate<F>(ArrayPack<1>{x}).lane[0];
}
static_assert(constant<Activation::relu>(-infinity) == 0 && constant<Activation::relu>(infinity) == infinity);
static_assert(constant<Activation::gelu>(-infinity) == 0 && constant<Activation::gelu>(infinity) == infinity);
static_assert(constant<Activation::gelu>(Limits::lowest()) == 0);
static_assert(constant<Activation::gelu_tanh>(-infinity) > -2e-37f);
static_assert(constant<Activation::gelu_tanh>(infinity) == infinity);
static_assert(constant<Activation::gelu_tanh>(Limits::max()) == Limits::max());
static_assert(constant<Activation::silu>(-infinity) == 0 && constant<Activation::silu>(infinity) == infinity);

// The error of e^x - 1 - x is that of e^x, which is about 1.
TEST_CASE_TEMPLATE("xIELU: values, infinities and NaN", Pack, ArrayPack<1>, Vector) {
  const auto xielu_of = [](float x) {
    float y[Pack::lanes];
    xielu(Pack(Pack::broadcast(x))).store(y);
    return y[Pack::lanes - 1];
  };
  for (int i = -768; i <= 768; ++i) {
    const float x = static_cast<float>(i) / 64;
    CAPTURE(x);
    CHECK(std::fabs(xielu_of(x) - truth(Activation::xielu, x)) <=
          0x1p-21 * (1 + std::fabs(x)) * (1 + std::fmax(x, 0.0f)));
  }
  CHECK(xielu_of(infinity) == infinity);
  CHECK(xielu_of(-infinity) == infinity);
  CHECK(xielu_of(-1e30f) == doctest::Approx(0.8e30));
  CHECK(std::isnan(xielu_of(Limits::quiet_NaN())));
}

TEST_CASE("SquaredReLU: infinities and NaN") {
  CHECK(constant<Activation::squared_relu>(-infinity) == 0);
  CHECK(constant<Activation::squared_relu>(infinity) == infinity);
  CHECK(std::isnan(constant<Activation::squared_relu>(Limits::quiet_NaN())));
}

TEST_CASE("SiLU: the error is at most four units in the last place") {
  CHECK(worst_error<ArrayPack<1>>() <= 8);
  CHECK(worst_error<Vector>() <= 8);
}

}  // namespace
