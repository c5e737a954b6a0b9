// Compares 2^x, e^x, erf and tanh with libm in double. The tests ignore the error of libm, which is at most 2^-28 of a
// float's unit in the last place. The tests take every 997th float, or all 2^32 floats with LADON_TEST_STEP=1. Each
// `bound` below is the largest error that was measured without fma, in units in the last place. The library promises at
// most 2 units for 2^x and e^x, and at most 4 units for erf and tanh. Vectors with different numbers of lanes must
// give equal bits.
#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <limits>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

#include <ladon/detail/vec/choose.hpp>
#include <ladon/detail/vec/elementary.hpp>

namespace {

namespace kernel = ladon::detail::vec;
using ladon::detail::vec::ArrayPack;
using Limits = std::numeric_limits<float>;
constexpr float infinity = Limits::infinity();

struct Exp2OfNonpositive {
  static constexpr std::string_view name = "exp2_of_nonpositive";
  static constexpr double bound = 1.23;
  static bool covers(float x) { return !(x > 0); }
  static double reference(double x) { return std::exp2(x); }
  template <class Pack>
  static constexpr Pack of(const Pack& x) {
    return kernel::exp2_of_nonpositive(x);
  }
};

struct Exp {
  static constexpr std::string_view name = "exp";
  static constexpr double bound = 1.17;
  static bool covers(float) { return true; }
  static double reference(double x) { return std::exp(x); }
  template <class Pack>
  static constexpr Pack of(const Pack& x) {
    return kernel::exp(x);
  }
};

struct Erf {
  static constexpr std::string_view name = "erf";
  static constexpr double bound = 2.88;
  static bool covers(float) { return true; }
  static double reference(double x) { return std::erf(x); }
  template <class Pack>
  static constexpr Pack of(const Pack& x) {
    return kernel::erf(x);
  }
};

// Calls the kernel that computes erf of several packs side by side.
struct ErfOfPacks : Erf {
  static constexpr std::string_view name = "erf of packs";
  template <class Pack>
  static constexpr Pack of(const Pack& x) {
    Pack packs[] = {Pack::broadcast(1), x};
    kernel::erf(packs);
    return packs[1];
  }
};

struct Tanh {
  static constexpr std::string_view name = "tanh";
  static constexpr double bound = 2.73;
  static bool covers(float) { return true; }
  static double reference(double x) { return std::tanh(x); }
  template <class Pack>
  static constexpr Pack of(const Pack& x) {
    return kernel::tanh(x);
  }
};

constexpr std::size_t block_size = 4096;
using Block = std::array<float, block_size>;
using Evaluate = void (*)(const Block& x, Block& y);

template <class Function, class Pack>
void evaluate(const Block& x, Block& y) {
  for (std::size_t i = 0; i < block_size; i += Pack::lanes) Function::of(Pack::load(&x[i])).store(&y[i]);
}

// Returns several functions that evaluate `Function` on a block of floats. First come functions for plain arrays, one
// for each number of lanes in `Lanes`. Then come functions for vector registers, also one for each number of lanes, but
// only if the target has registers with this number of lanes.
template <class Function, std::size_t... Lanes>
std::vector<Evaluate> evaluations(std::index_sequence<Lanes...>) {
  std::vector<Evaluate> all{evaluate<Function, ArrayPack<Lanes>>...};
#if LADON_HAS_XSIMD
  const auto add_vector = [&]<std::size_t N>() {
    if constexpr (ladon::detail::vec::has_register<N>)
      all.push_back(evaluate<Function, ladon::detail::vec::XsimdPack<N>>);
  };
  (add_vector.template operator()<Lanes>(), ...);
#endif
  return all;
}

// Returns the distance of neighbouring floats near y.
double spacing(double y) {
  const auto exponent = std::max<std::uint64_t>(std::bit_cast<std::uint64_t>(y) << 1 >> 53, 1023 - 126);
  return std::bit_cast<double>((exponent - 23) << 52);
}

// NEON of 32-bit Arm takes a subnormal argument as 0, which changes the result by up to the slope of the function.
#if defined(__ARM_NEON) && !defined(__aarch64__)
bool is_taken_as_zero(float x) { return x != 0 && std::fabs(x) < Limits::min(); }
constexpr double below_normal_bound = 1.13;  // 2 / sqrt(pi), the slope of erf at 0
#else
bool is_taken_as_zero(float) { return false; }
constexpr double below_normal_bound = 1;
#endif

struct Worst {
  double ulp = 0;           // the largest error where the true value is normal, and the argument is not taken as 0
  float at = 0;             // the argument of this error
  double below_normal = 0;  // the largest other error, in units of the smallest normal
  float below_at = 0;

  void judge(float x, float y, double truth) {
    constexpr double overflow = 0x1.ffffffp127;  // from this number on, the nearest float is infinity
    const bool normal = !is_taken_as_zero(x) && !(std::fabs(truth) < Limits::min());
    double error = std::fabs(y - truth) / (normal ? spacing(truth) : Limits::min());
    if (std::isnan(truth) || std::isnan(y)) error = std::isnan(truth) && std::isnan(y) ? 0 : infinity;
    if (std::fabs(truth) >= overflow) error = y == std::copysign(infinity, truth) ? 0 : infinity;
    double& worst = normal ? ulp : below_normal;
    if (error <= worst) return;
    worst = error;
    (normal ? at : below_at) = x;
  }
};

bool same(float a, float b) {
  return std::bit_cast<std::uint32_t>(a) == std::bit_cast<std::uint32_t>(b) || (std::isnan(a) && std::isnan(b));
}

template <class Function>
struct Sweep {
  const std::vector<Evaluate> packs = evaluations<Function>(std::index_sequence<1, 4, 8, 16>{});
  Worst worst;
  std::uint64_t differences = 0;  // between the first pack and the others, where the first pack's result is normal
  float difference_at = 0;

  void block(const Block& x) {
    static Block first, y;
    packs[0](x, first);
    for (std::size_t i = 0; i < block_size; ++i) worst.judge(x[i], first[i], Function::reference(x[i]));
    for (const Evaluate other : std::span(packs).subspan(1)) {
      other(x, y);
      if (std::equal(y.begin(), y.end(), first.begin(), same)) continue;
      for (std::size_t i = 0; i < block_size; ++i) {
        worst.judge(x[i], y[i], Function::reference(x[i]));
        if (same(first[i], y[i]) || is_taken_as_zero(x[i]) || std::fabs(first[i]) < Limits::min()) continue;
        ++differences;
        difference_at = x[i];
      }
    }
  }

  void run(std::uint64_t step) {
    static Block x;
    std::size_t filled = 0;
    for (std::uint64_t bits = 0; bits >> 32 == 0; bits += step) {
      const float value = std::bit_cast<float>(static_cast<std::uint32_t>(bits));
      if (!Function::covers(value)) continue;
      x[filled++] = value;
      if (filled < block_size) continue;
      block(x);
      filled = 0;
    }
    std::fill(x.begin() + filled, x.end(), 0.0f);
    block(x);
  }
};

// Returns the step between tested floats: the environment variable LADON_TEST_STEP, by default 997.
std::uint64_t step() {
  const char* const given = std::getenv("LADON_TEST_STEP");
  return given != nullptr ? std::stoull(given) : 997;
}

TEST_CASE_TEMPLATE("every float is within the bound, on every pack", Function, Exp2OfNonpositive, Exp, Erf, ErfOfPacks,
                   Tanh) {
  Sweep<Function> sweep;
  sweep.run(step());
  const Worst& worst = sweep.worst;
  MESSAGE(std::string(Function::name) << ": worst " << worst.ulp << " ulp at " << worst.at
                                      << "; below the normal range: " << worst.below_normal
                                      << " of the smallest normal at " << worst.below_at);
  CHECK(worst.ulp <= Function::bound);
  CHECK(worst.below_normal <= below_normal_bound);
  INFO("packs differ, for example at ", sweep.difference_at);
  CHECK(sweep.differences == 0);
}

double judged(float y, double truth) {
  Worst worst;
  worst.judge(0, y, truth);
  return std::max(worst.ulp, worst.below_normal);
}

TEST_CASE("the measured error is in units in the last place, and infinite for an unexpected NaN or infinity") {
  CHECK(judged(1, 1) == 0);
  CHECK(judged(1 + 3 * Limits::epsilon(), 1) == 3);
  CHECK(judged(1, 1 - 0x4p-24) == 4);  // below 1, neighbouring floats have the distance 2^-24, so the error is 4 units
  CHECK(judged(0, -Limits::min() / 2) == 0.5);
  CHECK(judged(Limits::max(), 0x1p128) == infinity);
  CHECK(judged(infinity, Limits::max()) == infinity);
  CHECK(judged(infinity, 0x1p128) == 0);
  CHECK(judged(Limits::quiet_NaN(), 1) == infinity);
  CHECK(judged(1, std::nan("")) == infinity);
  CHECK(judged(Limits::quiet_NaN(), std::nan("")) == 0);
}

template <class Function>
float at(float x) {
  return Function::of(ArrayPack<1>{{x}}).lane[0];
}

TEST_CASE("exp at the ends of its range") {
  CHECK(at<Exp>(-infinity) == 0);
  CHECK(at<Exp>(infinity) == infinity);
  CHECK(at<Exp>(88.7228394f) == infinity);
  CHECK(at<Exp>(88.7228317f) < infinity);
  CHECK(at<Exp>(-0.0f) == 1);
}

TEST_CASE("the softmax's exp2: 0 below its range; exact at integers and table entries") {
  CHECK(at<Exp2OfNonpositive>(-infinity) == 0);
  CHECK(at<Exp2OfNonpositive>(-126.50001f) == 0);
  CHECK(at<Exp2OfNonpositive>(Limits::lowest()) == 0);
  CHECK(at<Exp2OfNonpositive>(-0.0f) == 1);
  CHECK(std::isnan(at<Exp2OfNonpositive>(Limits::quiet_NaN())));
  constexpr int entries = ladon::detail::vec::uses_exp2_table ? 8 : 1;
  int different = 0;
  for (int i = 0; i <= 126 * entries; ++i) {
    const float x = -static_cast<float>(i) / entries;
    different += at<Exp2OfNonpositive>(x) != static_cast<float>(std::exp2(static_cast<double>(x)));
  }
  CHECK(different == 0);
}

// Tests reduce_max, reduce_add and Pack::add_rows. For the sums, lane i holds a small integer times 2^i. So each sum is
// exact, and a skipped or repeated lane changes the sum.
template <class Pack>
void check_reductions() {
  CAPTURE(Pack::lanes);
  alignas(64) float lane[Pack::lanes], sums[Pack::lanes];
  Pack rows[Pack::lanes];
  const auto all = static_cast<float>((std::uint64_t(1) << Pack::lanes) - 1);
  for (std::size_t largest = 0; largest < Pack::lanes; ++largest) {
    for (std::size_t i = 0; i < Pack::lanes; ++i) lane[i] = i == largest ? 2.0f : -static_cast<float>(i);
    CHECK(reduce_max(Pack::load(lane)) == 2);
    const auto scale = static_cast<float>(largest + 1);
    for (std::size_t i = 0; i < Pack::lanes; ++i) lane[i] = scale * static_cast<float>(1u << i);
    CHECK(reduce_add(Pack::load(lane)) == scale * all);
    rows[largest] = Pack::load(lane);
  }
  Pack::add_rows(rows).store(sums);
  for (std::size_t row = 0; row < Pack::lanes; ++row) CHECK(sums[row] == static_cast<float>(row + 1) * all);
}

TEST_CASE("the maximum and the sum of the lanes, for each position") {
  const auto check = []<std::size_t Lanes>(std::integral_constant<std::size_t, Lanes>) {
    check_reductions<ArrayPack<Lanes>>();
#if LADON_HAS_XSIMD
    if constexpr (ladon::detail::vec::has_register<Lanes>) check_reductions<ladon::detail::vec::XsimdPack<Lanes>>();
#endif
  };
  check(std::integral_constant<std::size_t, 1>{});
  check(std::integral_constant<std::size_t, 4>{});
  check(std::integral_constant<std::size_t, 8>{});
  check(std::integral_constant<std::size_t, 16>{});
}

// std::fma of Emscripten, and of MinGW on processors without FMA, rounds twice.
#if !defined(__EMSCRIPTEN__) && (!defined(__MINGW32__) || defined(__FMA__))
// fma_exact replaces std::fma in constant evaluation. This test calls fma_exact at run time. The exact sums a * b + c
// lie close to the midpoint of two floats. Rounding such a sum first to double and then to float gives a wrong result.
TEST_CASE("fma_exact rounds once") {
  int wrong = 0;
  const auto check = [&](float a, float b, float c) { wrong += !same(kernel::fma_exact(a, b, c), std::fma(a, b, c)); };
  for (int i = 1; i < 8; ++i) {
    const float above = 1 + static_cast<float>(i) * 0x1p-23f, below = 1 - static_cast<float>(i) * 0x1p-23f;
    for (int j = 0; j < 8; ++j) {
      const float c = 1 + static_cast<float>(j) * 0x1p-23f;
      for (const float half : {0x1p-24f, -0x1p-24f, 0x1p-25f}) {
        check(half * above, below, c);
        check(half * above, below, -c);
        check(half * (1 + 2852 * 0x1p-23f), 1 - 2851 * 0x1p-23f, c);
        check(half, 1, c);
      }
    }
  }
  // fma_exact computes the rounding error of a sum in two parts, and adds the parts in its variable `error`. In these
  // three cases, both parts are nonzero.
  check(0x1.00016cp+0f, 0x1.fffd28p-23f, 0x1.fffffep+0f);
  check(0x1.20080ap+0f, 0x1.c70fbep-23f, 0x1.fffffep+0f);
  check(0x1.000134p+0f, 0x1.7ffe32p-22f, 0x1.fffffcp+0f);
  for (const float c : {infinity, -infinity, Limits::max(), 0.0f}) check(Limits::max(), 2, c);
  check(infinity, 0, 1);
  CHECK(wrong == 0);
}
#endif

TEST_CASE("sqrt_newton is correctly rounded") {
  int wrong = 0;
  for (std::uint64_t bits = 0; bits >> 32 == 0; bits += 99991) {
    const float x = std::bit_cast<float>(static_cast<std::uint32_t>(bits));
    wrong += !same(kernel::sqrt_newton(x), std::sqrt(x));
  }
  CHECK(wrong == 0);
}

TEST_CASE_TEMPLATE("erf and tanh are odd, within -1 and 1, and keep the sign of 0", Function, Erf, ErfOfPacks, Tanh) {
  CHECK(same(at<Function>(0.0f), 0.0f));
  CHECK(same(at<Function>(-0.0f), -0.0f));
  CHECK(at<Function>(infinity) == 1);
  CHECK(at<Function>(-infinity) == -1);
  CHECK(std::isnan(at<Function>(Limits::quiet_NaN())));
  int wrong = 0;
  for (std::uint32_t bits = 0; bits <= std::bit_cast<std::uint32_t>(infinity); bits += 9973) {
    const float x = std::bit_cast<float>(bits);
    const float y = at<Function>(x);
    wrong += !(y >= 0 && y <= 1 && same(at<Function>(-x), -y));
  }
  CHECK(wrong == 0);
}

// Tests the functions in constant evaluation. The results for e, erf(1) and tanh(1) must be the floats nearest to
// 2.718281828459, 0.842700792950 and 0.761594155956.
constexpr ArrayPack<4> four{{0.0f, 1.0f, -1.0f, 4.0f}};
static_assert(kernel::exp2_of_nonpositive(ArrayPack<1>{{-infinity}}).lane[0] == 0);
static_assert(kernel::exp2_of_nonpositive(ArrayPack<1>{{-126}}).lane[0] == Limits::min());
static_assert(kernel::exp(four).lane[0] == 1 && kernel::exp(four).lane[1] == 2.71828183f);
static_assert(kernel::exp(ArrayPack<1>{{-infinity}}).lane[0] == 0);
static_assert(kernel::erf(four).lane[0] == 0 && kernel::erf(four).lane[3] == 1);
static_assert(kernel::erf(four).lane[1] == -kernel::erf(four).lane[2]);
static_assert(kernel::erf(four).lane[1] - 0.842700793f <= 2 * 0x1p-24f);
static_assert(kernel::tanh(four).lane[0] == 0 && kernel::tanh(ArrayPack<1>{{10}}).lane[0] == 1);
static_assert(kernel::tanh(four).lane[1] == -kernel::tanh(four).lane[2]);
static_assert(kernel::tanh(four).lane[1] - 0.761594156f <= 2 * 0x1p-24f);
static_assert(0.761594156f - kernel::tanh(four).lane[1] <= 2 * 0x1p-24f);

}  // namespace
