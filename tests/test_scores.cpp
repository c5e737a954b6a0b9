// Tests the computation of scores: scales of the user, softcap, sinks, and the capture of scores at each stage before
// the softmax.
#include <cmath>

#include <doctest/doctest.h>

#include "mask_sweep.hpp"

namespace ladon_test {

namespace {

using ladon::mask::Additive, ladon::mask::Causal, ladon::mask::Unmasked, ladon::mask::Padding;
using ladon::score::Scaled, ladon::score::ScaledByKeys, ladon::score::ScaledByModel;

struct Quarter : Scaled {
  static constexpr float scale(const S&) noexcept { return 0.25f; }
};
struct Capped : Scaled {
  static constexpr float softcap = 1.5f;
};
struct WithSinks : Scaled {
  static constexpr bool sinks = true;
};
struct CappedQuarterWithSinks : Quarter {
  static constexpr float softcap = 2;
  static constexpr bool sinks = true;
};

template <ladon::Shape Shape, class Mask, class Score>
void check_stages() {
  check_given(given_subject<Shape, Mask, Score, ladon::position::Unrotated, Captures::every_stage>());
}

}  // namespace

TEST_CASE("scales follow their formulas") {
  constexpr S shape{.queries = 3, .keys = 7, .model = 20, .heads = 2, .kv_heads = 2, .head_width = 5, .value_width = 5};
  const auto root = [](double x) { return doctest::Approx(1 / std::sqrt(x)).epsilon(2e-7); };
  CHECK(static_cast<double>(Scaled::scale(shape)) == root(5));
  CHECK(static_cast<double>(ScaledByKeys::scale(shape)) == root(7));
  CHECK(static_cast<double>(ScaledByModel::scale(shape)) == root(20));
}

TEST_CASE("softcap, sinks, a user's scale: every stage") {
  check_stages<S{.queries = lanes + 1, .keys = 33, .model = 6, .heads = 2}, Additive, CappedQuarterWithSinks>();
}

#if !defined(LADON_TEST_SET_QUICK)
TEST_CASE("scales agree with the oracle") {
  check_given(given_subject<S{.queries = 5, .keys = 33, .model = 12, .heads = 2}, Unmasked, ScaledByKeys>());
  check_given(given_subject<S{.queries = 5, .keys = 33, .model = 12, .heads = 2}, Unmasked, ScaledByModel>());
  check_given(given_subject<S{.queries = 1, .keys = 20, .model = 12, .heads = 2}, Unmasked, Quarter>());
}

TEST_CASE("every stage, with only a mask") {
  check_stages<S{.queries = lanes + 1, .keys = 33, .model = 6, .heads = 2}, Causal, Scaled>();
  check_stages<S{.queries = 1, .keys = 33, .model = 4, .heads = 1}, Padding, Scaled>();
  check_stages<S{.queries = 3, .keys = 600, .model = 4, .heads = 1}, decltype(Causal{} & Padding{}), Scaled>();
}

TEST_CASE("softcap") {
  check_stages<S{.queries = 1, .keys = 100, .model = 4, .heads = 1}, Unmasked, Capped>();
  check_given(given_subject<S{.queries = 5, .keys = 600, .model = 4, .heads = 1}, ladon::mask::Alibi, Capped>());
}

TEST_CASE("sinks") {
  check_given(
      given_subject<S{.queries = 33, .keys = lanes + 1, .model = 12, .heads = 4, .kv_heads = 2}, Causal, WithSinks>());
  check_given(given_subject<S{.queries = 1, .keys = 33, .model = 6, .heads = 3}, Padding, WithSinks>());
  check_given(given_subject<S{.queries = 7, .keys = 600, .model = 6, .heads = 2}, Padding, WithSinks>());
}

TEST_CASE("everything at once, with projections") {
  using ladon::layout::InProj, ladon::detail::vec::NativeVectors;
  check_self(self_subject<S{.queries = lanes + 1, .model = 10, .heads = 2}, decltype(Additive{} & Causal{}), InProj,
                          NativeVectors, CappedQuarterWithSinks>());
}
#endif

#if defined(LADON_TEST_WIDE)
TEST_CASE("softcap, causal, every stage") {
  check_stages<S{.queries = 33, .keys = lanes, .model = 12, .heads = 2}, Causal, Capped>();
}
#endif

}  // namespace ladon_test
