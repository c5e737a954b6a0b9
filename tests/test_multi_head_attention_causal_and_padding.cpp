#include <doctest/doctest.h>

#include "sweep.hpp"

namespace ladon_test {

TEST_CASE("causal and padding") {
  sweep<CausalAndPadding, S{.queries = 17, .keys = 33, .model = 30, .heads = 5, .head_width = 32}>();
#if !defined(LADON_TEST_EMULATED)
  sweep<CausalAndPadding, S{.queries = 8, .model = 32, .heads = 4, .value_width = 4},
        S{.queries = 16, .keys = 100, .model = 3, .heads = 4, .kv_heads = 2, .head_width = 4, .value_width = 8}>();
#endif
}

#if !defined(LADON_TEST_SET_QUICK)
TEST_CASE("causal and padding, more shapes") {
  sweep<CausalAndPadding, S{.queries = 64, .model = 8, .heads = 6, .kv_heads = 1, .head_width = 1, .value_width = 20},
        S{.queries = 3, .keys = 2, .model = 3, .heads = 4, .kv_heads = 1, .head_width = 80}>();
}
#endif

#if defined(LADON_TEST_WIDE)
TEST_CASE("causal and padding, the other shapes of the wide set") {
  sweep<CausalAndPadding, S{.queries = 2, .keys = 17, .model = 1, .heads = 3, .head_width = 64},
        S{.queries = 31, .model = 30, .heads = 6, .kv_heads = 1, .head_width = 32},
        S{.queries = 7, .model = 5, .heads = 2, .head_width = 3},
        S{.queries = 1, .model = 12, .heads = 4, .head_width = 32},
        S{.queries = 33, .keys = 3, .model = 5, .heads = 6, .head_width = 20},
        S{.queries = 15, .model = 37, .heads = 5, .head_width = 1},
        S{.queries = 100, .keys = 16, .model = 3, .heads = 1, .head_width = 64}>();
}
#endif

#if defined(LADON_TEST_SET_SLOW)
TEST_CASE("causal and padding, even more shapes") {
  sweep<CausalAndPadding, S{.queries = 8, .model = 1, .heads = 4, .head_width = 64},
        S{.queries = 2, .keys = 64, .model = 3, .heads = 5, .kv_heads = 1, .head_width = 32, .value_width = 1},
        S{.queries = 31, .model = 5, .heads = 4, .head_width = 1},
        S{.queries = 2, .keys = 15, .model = 8, .heads = 2, .head_width = 80, .value_width = 64},
        S{.queries = 7, .model = 3, .heads = 3, .kv_heads = 1, .head_width = 64},
        S{.queries = 33, .keys = 100, .model = 8, .heads = 2, .head_width = 32},
        S{.queries = 16, .model = 30, .heads = 1, .head_width = 8, .value_width = 4},
        S{.queries = 100, .keys = 15, .model = 20, .heads = 4, .head_width = 32, .value_width = 8},
        S{.queries = 2, .model = 17, .heads = 3, .head_width = 4},
        S{.queries = 15, .keys = 100, .model = 8, .heads = 6, .head_width = 4},
        S{.queries = 33, .model = 8, .heads = 1, .head_width = 80},
        S{.queries = 1, .keys = 100, .model = 3, .heads = 6, .head_width = 64, .value_width = 80}>();
}
#endif

}  // namespace ladon_test
