// Tests masks with an entry for each pair of query and key: bits, bytes, and bytes for each head.
#include <doctest/doctest.h>

#include "mask_sweep.hpp"

namespace ladon_test {

using ladon::mask::Bits, ladon::mask::Boolean, ladon::mask::BooleanPerHead;

TEST_CASE("bits") { sweep_given<Bits, S{.queries = lanes + 1, .keys = 33, .model = 6, .heads = 2}>(); }

TEST_CASE("bytes for each head") {
  sweep_given<BooleanPerHead, S{.queries = 3, .keys = lanes + 1, .model = 12, .heads = 4, .kv_heads = 2}>();
}

#if !defined(LADON_TEST_SET_QUICK)
TEST_CASE("bits, more shapes") {
  sweep_given<Bits, S{.queries = 1, .keys = 100, .model = 4, .heads = 1},
              S{.queries = lanes - 1, .keys = lanes - 1, .model = 3, .heads = 1},
              S{.queries = 5, .keys = 600, .model = 4, .heads = 1}>();
}

TEST_CASE("bytes") {
  sweep_given<Boolean, S{.queries = 100, .keys = lanes, .model = 6, .heads = 2},
              S{.queries = 1, .keys = 33, .model = 4, .heads = 1},
              S{.queries = lanes + 1, .keys = 1, .model = 3, .heads = 1}>();
}

TEST_CASE("bytes for each head, more shapes") {
  sweep_given<BooleanPerHead, S{.queries = 33, .keys = 33, .model = 6, .heads = 3},
              S{.queries = 1, .keys = lanes, .model = 6, .heads = 3}>();
}

TEST_CASE("bits and bytes with the other masks") {
  sweep_given<decltype(Bits{} & ladon::mask::Causal{}), S{.queries = 37, .keys = 40, .model = 6, .heads = 2}>();
  sweep_given<decltype(Boolean{} & ladon::mask::Padding{}), S{.queries = 7, .keys = 300, .model = 4, .heads = 1}>();
}
#endif

#if defined(LADON_TEST_WIDE)
TEST_CASE("bits and bytes, the other shapes of the wide set; bits with projections") {
  sweep_given<Bits, S{.queries = 33, .keys = 3, .model = 20, .heads = 2}>();
  sweep_given<Boolean, S{.queries = 3, .keys = 520, .model = 4, .heads = 1}>();
  check_self(self_subject<S{.queries = lanes + 1, .model = 10, .heads = 2}, Bits>());
}
#endif

}  // namespace ladon_test
