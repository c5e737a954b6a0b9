// Tests masks that add numbers to the scores. Additive adds a number for each pair of query and key. Alibi adds the
// product of a slope and a distance: the slope of the head, and the position of the key minus the position of the
// query.
#include <doctest/doctest.h>

#include "mask_sweep.hpp"

namespace ladon_test {

using ladon::mask::Additive, ladon::mask::AdditivePerHead, ladon::mask::Alibi, ladon::mask::Causal;

TEST_CASE("additive") { sweep_given<Additive, S{.queries = lanes + 1, .keys = 33, .model = 6, .heads = 2}>(); }

TEST_CASE("alibi and causal") {
  sweep_given<decltype(Alibi{} & Causal{}), S{.queries = 33, .keys = lanes + 1, .model = 12, .heads = 4}>();
}

#if !defined(LADON_TEST_SET_QUICK)
TEST_CASE("additive, more shapes") {
  sweep_given<Additive, S{.queries = 1, .keys = 100, .model = 4}, S{.queries = lanes - 1, .keys = lanes, .model = 3},
              S{.queries = 5, .keys = 600, .model = 4}>();
}

TEST_CASE("additive for each head") {
  sweep_given<AdditivePerHead, S{.queries = 3, .keys = lanes + 1, .model = 12, .heads = 4, .kv_heads = 2},
              S{.queries = 33, .keys = 33, .model = 6, .heads = 3}>();
}

TEST_CASE("alibi, also with a number of heads that is not a power of two") {
  sweep_given<Alibi, S{.queries = 3, .keys = 33, .model = 6, .heads = 6}, S{.queries = 1, .keys = lanes, .model = 1},
              S{.queries = 7, .keys = 520, .model = 10, .heads = 5}>();
}

TEST_CASE("a mask that adds and a mask that hides") {
  using ladon::mask::Boolean;
  sweep_given<decltype(Additive{} & Causal{}), S{.queries = 37, .keys = 40, .model = 6, .heads = 2}>();
  sweep_given<decltype(Boolean{} & Additive{}), S{.queries = 7, .keys = 300, .model = 4}>();
  sweep_given<decltype((AdditivePerHead{} & Alibi{}) & ladon::mask::Padding{}),
              S{.queries = lanes, .keys = 33, .model = 6, .heads = 2}>();
}
#endif

#if defined(LADON_TEST_WIDE)
TEST_CASE("additive and alibi, the other shapes of the wide set") {
  sweep_given<Additive, S{.queries = 33, .keys = 1, .model = 3}, S{.queries = 100, .keys = 3, .model = 3}>();
  sweep_given<Alibi, S{.queries = 2, .keys = 5, .model = 12, .heads = 12}>();
}

TEST_CASE("additive with projections") {
  check_self(self_subject<S{.queries = lanes + 1, .model = 10, .heads = 2}, AdditivePerHead>());
}
#endif

}  // namespace ladon_test
