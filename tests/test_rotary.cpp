// Tests the rotary position embedding: the table, both pairings, heads of which only a part is rotated, base, scaling
// and offset.
#include <cmath>

#include <doctest/doctest.h>

#include "mask_sweep.hpp"

namespace ladon_test {

namespace {

using ladon::Pairing, ladon::mask::Causal, ladon::mask::Unmasked, ladon::score::Scaled;

template <Pairing P, std::size_t Width, std::size_t Positions>
using ScaledRotary = RotaryOf<P, Width, Positions, 500000, 4>;
struct Capped : Scaled {
  static constexpr float softcap = 2;
};

template <std::size_t Positions, std::size_t Width>
double worst_of_table(double base, double scaling) {
  static const auto table = ladon::rotary_table<Positions, Width>(base, scaling);
  double worst = 0;
  for (std::size_t pair = 0; pair < Width / 2; ++pair) {
    for (std::size_t t = 0; t < Positions; ++t) {
      const double share = 2 * static_cast<double>(pair) / static_cast<double>(Width);
      const double angle = static_cast<double>(t) / scaling * std::pow(base, -share);
      worst = std::max(worst, std::abs(static_cast<double>(table.cosine[pair][t]) - std::cos(angle)));
      worst = std::max(worst, std::abs(static_cast<double>(table.sine[pair][t]) - std::sin(angle)));
    }
  }
  return worst;
}

}  // namespace

TEST_CASE("the table holds cosines and sines, each rounded once") {
  // The sines and cosines of the table are at most 1, so rounding to float changes a number by at most 2^-25. The
  // rounding error of the angle, in double, is far smaller.
  CHECK(worst_of_table<4096, 8>(10000, 1) <= 0x1.0001p-25);
  CHECK(worst_of_table<512, 128>(10000, 1) <= 0x1.0001p-25);
  CHECK(worst_of_table<1000, 6>(500000, 4) <= 0x1.0001p-25);
  CHECK(worst_of_table<1000, 2>(1e6, 0.37) <= 0x1.0001p-25);
}

TEST_CASE("rotary embedding: neighbours and halves") {
  check_given(given_subject<S{.queries = lanes + 1, .keys = 33, .model = 12, .heads = 2}, Causal, Scaled,
                            RotaryOf<Pairing::neighbours, 6, 40>>());
  check_given(given_subject<S{.queries = lanes + 1, .keys = 33, .model = 12, .heads = 2}, Causal, Scaled,
                            RotaryOf<Pairing::halves, 6, 40>>());
}

#if !defined(LADON_TEST_SET_QUICK)
TEST_CASE("rotary embedding of a part of a head, with other bases and scalings") {
  check_given(given_subject<S{.queries = 3, .keys = lanes + 1, .model = 12, .heads = 2}, Unmasked, Scaled,
                            ScaledRotary<Pairing::neighbours, 4, 40>>());
  check_given(given_subject<S{.queries = 3, .keys = 33, .model = 5, .heads = 1}, Unmasked, Scaled,
                            ScaledRotary<Pairing::halves, 2, 33>>());
  check_given(given_subject<S{.queries = 1, .keys = 33, .model = 9, .heads = 1}, Unmasked, Scaled,
                            RotaryOf<Pairing::halves, 8, 50>>());
}

TEST_CASE("rotary embedding with projections, grouped heads and a cap") {
  using ladon::layout::InProj, ladon::detail::vec::NativeVectors;
  check_self(self_subject<S{.queries = 37, .model = 24, .heads = 4, .kv_heads = 2}, Causal, InProj, NativeVectors,
                          Capped, RotaryOf<Pairing::halves, 6, 60>>());
}
#endif

TEST_CASE("the token at position 0 is not rotated, and each parameter of the rotation changes the result") {
  constexpr S first{.queries = 1, .keys = 1, .model = 12, .heads = 2};
  constexpr S shape{.queries = 7, .keys = 7, .model = 12, .heads = 2};
  const auto run = [](const Subject& subject, std::size_t offset) {
    return run_guarded(subject,
                       task_of(subject, random_given(subject.shape, 9), {.lengths = {.rotary_offset = offset}}));
  };
  const auto same = [](const Outcome& a, const Outcome& b) { return same_bits(a.maps[0], b.maps[0]); };
  using Neighbours = RotaryOf<Pairing::neighbours, 6, 40>;
  const Subject captured = given_subject<first, Unmasked, Scaled, Neighbours, Captures::every_stage>();
  const Subject plain = given_subject<first, Unmasked, Scaled, ladon::position::Unrotated, Captures::every_stage>();
  const auto score = [&](const Subject& subject) {
    const Task task = task_of(subject, random_given(subject.shape, 9), {});
    return run_capturing(subject, task, ladon::Stage::scaled, run_guarded(subject, task).y);
  };
  CHECK(same_bits(score(captured), score(plain)));

  const Outcome turned = run(given_subject<shape, Unmasked, Scaled, Neighbours>(), 0);
  CHECK(!same(turned, run(given_subject<shape, Unmasked>(), 0)));
  CHECK(!same(turned, run(given_subject<shape, Unmasked, Scaled, RotaryOf<Pairing::halves, 6, 40>>(), 0)));
  CHECK(!same(turned, run(given_subject<shape, Unmasked, Scaled, RotaryOf<Pairing::neighbours, 4, 40>>(), 0)));
  CHECK(!same(turned, run(given_subject<shape, Unmasked, Scaled, ScaledRotary<Pairing::neighbours, 6, 40>>(), 0)));
  // A score depends only on the distance of query and key. So adding an offset to all positions changes only roundings.
  const Outcome later = run(given_subject<shape, Unmasked, Scaled, Neighbours>(), 9);
  CHECK(!same(turned, later));
  for (std::size_t i = 0; i < later.y.size(); ++i) CHECK(std::abs(turned.y[i] - later.y[i]) < 1e-5f);
}

#if defined(LADON_TEST_WIDE)
TEST_CASE("rotary embedding: several blocks of keys, keys from a context") {
  check_given(given_subject<S{.queries = 1, .keys = 600, .model = 9, .heads = 1}, Causal, Scaled,
                            RotaryOf<Pairing::neighbours, 8, 600>>());
  using ladon::layout::InProj, ladon::detail::vec::NativeVectors;
  check_cross(attention_subject<S{.queries = 5, .keys = 20, .model = 12, .heads = 2}, Unmasked, InProj, NativeVectors,
                                Scaled, RotaryOf<Pairing::neighbours, 6, 30>>());
}
#endif

}  // namespace ladon_test
