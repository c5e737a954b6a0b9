// Tests every parameter of a mask and of a score with two values. The neutral value must not change a bit of the
// result. The other value must change the result.
#include <cmath>
#include <limits>

#include <doctest/doctest.h>

#include "mask_sweep.hpp"

namespace ladon_test {

namespace {

using namespace ladon::mask;
using ladon::all, ladon::score::Scaled;

constexpr S square{.queries = lanes + 1, .keys = lanes + 1, .model = 6, .heads = 2};
constexpr S wide{.queries = 3, .keys = 37, .model = 6, .heads = 2};
constexpr S one{.queries = 1, .keys = 37, .model = 6, .heads = 2};

// Runs the kernel with fixed random queries, keys and values.
Outcome run(const Subject& subject, const Variation& variation = {}) {
  return run_guarded(subject, task_of(subject, random_given(subject.shape, 9), variation));
}
template <ladon::Shape Shape, class Mask, class Score = Scaled>
Outcome run_with(const Variation& variation = {}) {
  return run(given_subject<Shape, Mask, Score>(), variation);
}

bool same(const Outcome& a, const Outcome& b) { return same_bits(a.y, b.y) && same_bits(a.maps[0], b.maps[0]); }

std::size_t heads_of_pairs(const S& shape, bool per_head) { return per_head ? shape.heads : 1; }
Variation with_pairs(const S& shape, bool per_head, bool hide_one) {
  Variation variation;
  variation.pairs.assign(heads_of_pairs(shape, per_head) * shape.queries * shape.keys, 1);
  if (hide_one) variation.pairs[1] = 0;
  return variation;
}
Variation with_values(const S& shape, bool per_head, float value) {
  Variation variation;
  variation.values.assign(heads_of_pairs(shape, per_head) * shape.queries * shape.keys, 0.0f);
  variation.values[1] = value;
  return variation;
}
Variation with_bytes(const S& shape, std::uint8_t second) {
  Variation variation;
  variation.may_see.assign(shape.keys, 1);
  variation.may_see[1] = second;
  return variation;
}

template <ladon::Shape Shape>
void check_masks() {
  const Outcome plain = run_with<Shape, Unmasked>();
  const auto pairs = [&]<class Mask>(Mask, bool per_head) {
    CHECK(same(run_with<Shape, Mask>(), plain));  // the mask data is a null pointer
    CHECK(same(run_with<Shape, Mask>(with_pairs(Shape, per_head, false)), plain));
    CHECK(!same(run_with<Shape, Mask>(with_pairs(Shape, per_head, true)), plain));
  };
  pairs(Bits{}, false);
  pairs(BooleanPerHead{}, true);
  if constexpr (Shape.queries > 1) pairs(Boolean{}, false);
  const auto values = [&]<class Mask>(Mask, bool per_head) {
    CHECK(same(run_with<Shape, Mask>(), plain));
    CHECK(same(run_with<Shape, Mask>(with_values(Shape, per_head, 0.0f)), plain));
    CHECK(!same(run_with<Shape, Mask>(with_values(Shape, per_head, 0.5f)), plain));
  };
  values(AdditivePerHead{}, true);
  if constexpr (Shape.queries > 1) values(Additive{}, false);
  CHECK(same(run_with<Shape, Padding>(), plain));
  CHECK(same(run_with<Shape, Padding>(with_bytes(Shape, 7)), plain));
  CHECK(!same(run_with<Shape, Padding>(with_bytes(Shape, 0)), plain));
  CHECK(same(run_with<Shape, Alibi>({.slopes = {0, 0}}), plain));
  CHECK(!same(run_with<Shape, Alibi>({.slopes = {0, 0.25f}}), plain));
  if constexpr (Shape.queries > 1) CHECK(same(run_with<Shape, Window<all, all>>(), plain));
  CHECK(same(run_with<Shape, Causal>({.lengths = {.offset = 1000}}), plain));
}

struct Capped : Scaled {
  static constexpr float softcap = 30;
};
struct NotCapped : Scaled {
  static constexpr float softcap = 0;
};
struct WithSinks : Scaled {
  static constexpr bool sinks = true;
};
struct ByHead : Scaled {
  static constexpr float scale(const S&) noexcept { return 0.577350269f; }  // 1 / sqrt(head width 3)
};
struct Double : Scaled {
  static constexpr float scale(const S&) noexcept { return 2 * 0.577350269f; }
};

template <ladon::Shape Shape>
void check_scores() {
  const Outcome plain = run_with<Shape, Unmasked>();
  constexpr float infinity = std::numeric_limits<float>::infinity();
  CHECK(same(run_with<Shape, Unmasked, NotCapped>(), plain));
  CHECK(!same(run_with<Shape, Unmasked, Capped>(), plain));
  CHECK(same(run_with<Shape, Unmasked, WithSinks>({.sinks = {-infinity, -infinity}}), plain));
  CHECK(!same(run_with<Shape, Unmasked, WithSinks>({.sinks = {-infinity, 0}}), plain));
  CHECK(same(run_with<Shape, Unmasked, ByHead>(), plain));
  CHECK(!same(run_with<Shape, Unmasked, Double>(), plain));
}

}  // namespace

TEST_CASE("masks that hide and add nothing change nothing") { check_masks<square>(); }
TEST_CASE("scores with neutral parameters") { check_scores<square>(); }

#if !defined(LADON_TEST_SET_QUICK)
TEST_CASE("masks that hide and add nothing change nothing: one query") { check_masks<one>(); }
TEST_CASE("scores with neutral parameters: one query") { check_scores<one>(); }
#endif

TEST_CASE("a window without a left end is causal, and an offset of the type equals an offset of the run") {
  CHECK(same(run_with<wide, Window<all, 0>>(), run_with<wide, Causal>()));
  const Variation at{.lengths = {.offset = 5}}, before{.lengths = {.offset = -1}};
  CHECK(same(run_with<wide, CausalAt<5>>(), run_with<wide, Causal>(at)));
  CHECK(same(run_with<wide, CausalAt<-1>>(), run_with<wide, Causal>(before)));
  CHECK(same(run_with<wide, WindowAt<3, 1, 5>>(), run_with<wide, Window<3, 1>>(at)));
  CHECK(same(run_with<wide, CausalAt<34>>(), run_with<wide, Causal>()));  // 34 is the default offset, keys - queries
}

TEST_CASE("a change by one of a window's ends or offset changes the result") {
  const Outcome window = run_with<wide, WindowAt<3, 1, 5>>();
  CHECK(!same(run_with<wide, WindowAt<4, 1, 5>>(), window));
  CHECK(!same(run_with<wide, WindowAt<3, 2, 5>>(), window));
  CHECK(!same(run_with<wide, WindowAt<3, 1, 6>>(), window));
}

TEST_CASE("alibi: the default slopes are the paper's, and the offset changes roundings alone") {
  const auto slopes = {1.0f / 16, 1.0f / 256};  // 2^(-8 / 2), 2^(-16 / 2)
  CHECK(same(run_with<square, Alibi>(), run_with<square, Alibi>({.slopes = slopes})));
  // With ALiBi, the offset changes all scores of a query by the same number. The softmax cancels this number, so only
  // roundings change.
  const Outcome here = run_with<wide, Alibi>(), there = run_with<wide, Alibi>({.lengths = {.offset = 3}});
  for (std::size_t i = 0; i < here.y.size(); ++i) CHECK(std::abs(here.y[i] - there.y[i]) < 1e-5f);
}

TEST_CASE("a mask of fewer columns hides the keys beyond them") {
  const auto check = [&]<class Mask>(Mask, Variation narrow, const Variation& full) {
    narrow.lengths.mask_keys = 20;
    const Outcome shorter = run_with<wide, Mask>(narrow);
    CHECK(same_bits(shorter.y, run_with<wide, Unmasked>({.lengths = {.keys = 20}}).y));
    CHECK(!same_bits(shorter.y, run_with<wide, Mask>(full).y));
  };
  Variation pairs, values;
  pairs.pairs.assign(3 * 20, 1);
  values.values.assign(3 * 20, 0.0f);
  check(Boolean{}, pairs, with_pairs(wide, false, false));
  check(Additive{}, values, with_values(wide, false, 0.0f));
}

}  // namespace ladon_test
