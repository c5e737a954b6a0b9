#include <doctest/doctest.h>

#include "sweep.hpp"

namespace ladon_test {

TEST_CASE("padding") {
  sweep<ladon::mask::Padding,
        S{.queries = 1, .keys = 15, .model = 17, .heads = 2, .kv_heads = 1, .head_width = 8, .value_width = 80}>();
#if !defined(LADON_TEST_EMULATED)
  sweep<ladon::mask::Padding, S{.queries = 17, .model = 3, .heads = 6, .kv_heads = 3, .head_width = 3},
        S{.queries = 15, .keys = 64, .model = 5, .heads = 1, .head_width = 64}>();
#endif
}

#if !defined(LADON_TEST_SET_QUICK)
TEST_CASE("padding, more shapes") {
  sweep<ladon::mask::Padding, S{.queries = 2, .model = 1, .heads = 4, .head_width = 1},
        S{.queries = 100, .keys = 1, .model = 5, .heads = 3, .kv_heads = 1, .head_width = 4}>();
}
#endif

#if defined(LADON_TEST_WIDE)
TEST_CASE("padding, the other shapes of the wide set") {
  sweep<ladon::mask::Padding, S{.queries = 16, .model = 12, .heads = 3, .kv_heads = 1, .head_width = 32},
        S{.queries = 8, .keys = 100, .model = 1, .heads = 3, .kv_heads = 1, .head_width = 80},
        S{.queries = 3, .keys = 8, .model = 1, .heads = 2, .kv_heads = 1, .head_width = 20, .value_width = 8},
        S{.queries = 31, .model = 17, .heads = 2, .kv_heads = 1, .head_width = 64},
        S{.queries = 7, .model = 17, .heads = 1, .head_width = 4, .value_width = 20},
        S{.queries = 64, .keys = 3, .model = 3, .heads = 5, .kv_heads = 1, .head_width = 8},
        S{.queries = 33, .model = 30, .heads = 1, .head_width = 1}>();
}
#endif

#if defined(LADON_TEST_SET_SLOW)
TEST_CASE("padding, even more shapes") {
  sweep<ladon::mask::Padding, S{.queries = 100, .model = 3, .heads = 3},
        S{.queries = 7, .keys = 1, .model = 5, .heads = 4, .head_width = 20},
        S{.queries = 3, .model = 20, .heads = 3, .head_width = 4},
        S{.queries = 100, .keys = 17, .model = 1, .heads = 5, .head_width = 8},
        S{.queries = 31, .model = 5, .heads = 3, .head_width = 3},
        S{.queries = 64, .keys = 2, .model = 37, .heads = 3, .kv_heads = 1, .head_width = 20},
        S{.queries = 3, .model = 5, .heads = 1, .head_width = 64},
        S{.queries = 1, .keys = 7, .model = 1, .heads = 3, .head_width = 20, .value_width = 8},
        S{.queries = 31, .model = 3, .heads = 6, .kv_heads = 1, .head_width = 20},
        S{.queries = 31, .keys = 16, .model = 5, .heads = 2, .head_width = 80},
        S{.queries = 8, .model = 1, .heads = 2, .head_width = 80, .value_width = 32},
        S{.queries = 64, .keys = 15, .model = 5, .heads = 3, .head_width = 64, .value_width = 80}>();
}
#endif

}  // namespace ladon_test
