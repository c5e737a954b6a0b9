#include <doctest/doctest.h>

#include "sweep.hpp"

namespace ladon_test {

TEST_CASE("causal") {
  sweep<ladon::mask::Causal, S{.queries = 33, .model = 30, .heads = 4, .kv_heads = 2, .head_width = 3}>();
#if !defined(LADON_TEST_EMULATED)
  sweep<ladon::mask::Causal, S{.queries = 17, .keys = 16, .model = 17, .heads = 3, .head_width = 20, .value_width = 3},
        S{.queries = 8, .keys = 17, .model = 48, .heads = 5, .kv_heads = 1, .head_width = 20, .value_width = 4}>();
#endif
}

#if !defined(LADON_TEST_SET_QUICK)
TEST_CASE("causal, more shapes") {
  sweep<ladon::mask::Causal, S{.queries = 7, .model = 8, .heads = 5, .head_width = 80},
        S{.queries = 100, .keys = 64, .model = 64, .heads = 2, .head_width = 4, .value_width = 3}>();
}
#endif

#if defined(LADON_TEST_WIDE)
TEST_CASE("causal, the other shapes of the wide set") {
  sweep<ladon::mask::Causal, S{.queries = 16, .keys = 1, .model = 3, .heads = 6, .head_width = 64},
        S{.queries = 1, .keys = 8, .model = 20, .heads = 2, .head_width = 32}, S{.queries = 3, .model = 1, .heads = 1},
        S{.queries = 31, .model = 5, .heads = 1, .head_width = 8},
        S{.queries = 15, .model = 20, .heads = 4, .head_width = 20}, S{.queries = 2, .model = 3, .heads = 1},
        S{.queries = 64, .keys = 100, .model = 6, .heads = 2}>();
}
#endif

#if defined(LADON_TEST_SET_SLOW)
TEST_CASE("causal, even more shapes") {
  sweep<ladon::mask::Causal, S{.queries = 1, .model = 1, .heads = 1, .head_width = 3},
        S{.queries = 17, .keys = 8, .model = 12, .heads = 4, .kv_heads = 2, .head_width = 1},
        S{.queries = 16, .model = 8, .heads = 1, .head_width = 1},
        S{.queries = 1, .keys = 33, .model = 8, .heads = 5, .head_width = 4},
        S{.queries = 7, .model = 1, .heads = 6, .head_width = 32},
        S{.queries = 17, .keys = 31, .model = 8, .heads = 2, .head_width = 80},
        S{.queries = 3, .model = 1, .heads = 4, .kv_heads = 2, .head_width = 32},
        S{.queries = 8, .keys = 7, .model = 37, .heads = 4, .head_width = 1},
        S{.queries = 16, .model = 8, .heads = 2, .kv_heads = 1, .head_width = 3, .value_width = 20},
        S{.queries = 15, .keys = 1, .model = 3, .heads = 1, .head_width = 80},
        S{.queries = 64, .model = 20, .heads = 1, .head_width = 8},
        S{.queries = 7, .keys = 100, .model = 12, .heads = 5, .head_width = 8}>();
}
#endif

}  // namespace ladon_test
