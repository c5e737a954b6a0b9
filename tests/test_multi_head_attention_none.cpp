#include <doctest/doctest.h>

#include "sweep.hpp"

namespace ladon_test {

TEST_CASE("no mask") {
  sweep<ladon::mask::Unmasked,
        S{.queries = 2, .keys = 16, .model = 1, .heads = 6, .kv_heads = 3, .head_width = 4, .value_width = 8}>();
#if !defined(LADON_TEST_EMULATED)
  sweep<ladon::mask::Unmasked, S{.queries = 15, .model = 20, .heads = 3, .head_width = 3},
        S{.queries = 64, .keys = 33, .model = 37, .heads = 1, .head_width = 80, .value_width = 32}>();
#endif
}

#if !defined(LADON_TEST_SET_QUICK)
TEST_CASE("no mask, more shapes") {
  sweep<ladon::mask::Unmasked, S{.queries = 1, .model = 5, .heads = 3, .kv_heads = 1, .head_width = 1},
        S{.queries = 31, .model = 8, .heads = 5, .head_width = 4}>();
}
#endif

#if defined(LADON_TEST_WIDE)
TEST_CASE("no mask, the other shapes of the wide set") {
  sweep<ladon::mask::Unmasked, S{.queries = 8, .model = 12, .heads = 1, .head_width = 32, .value_width = 80},
        S{.queries = 33, .keys = 7, .model = 37, .heads = 6, .head_width = 8, .value_width = 20},
        S{.queries = 17, .keys = 2, .model = 8, .heads = 5, .head_width = 64},
        S{.queries = 100, .model = 8, .heads = 1, .head_width = 20},
        S{.queries = 7, .keys = 17, .model = 64, .heads = 2, .head_width = 1}, S{.queries = 3, .model = 15, .heads = 5},
        S{.queries = 16, .keys = 64, .model = 17, .heads = 2, .head_width = 80}>();
}
#endif

#if defined(LADON_TEST_SET_SLOW)
TEST_CASE("no mask, even more shapes") {
  sweep<ladon::mask::Unmasked, S{.queries = 33, .model = 17, .heads = 5, .head_width = 8},
        S{.queries = 1, .keys = 3, .model = 37, .heads = 6, .head_width = 80},
        S{.queries = 2, .model = 20, .heads = 3, .head_width = 8}, S{.queries = 17, .keys = 15, .model = 4, .heads = 1},
        S{.queries = 8, .model = 5, .heads = 2, .head_width = 3},
        S{.queries = 64, .keys = 17, .model = 8, .heads = 4, .head_width = 4, .value_width = 80},
        S{.queries = 8, .model = 24, .heads = 6, .kv_heads = 3, .value_width = 20},
        S{.queries = 17, .keys = 1, .model = 3, .heads = 3, .head_width = 8},
        S{.queries = 33, .model = 12, .heads = 2, .head_width = 64},
        S{.queries = 16, .keys = 33, .model = 3, .heads = 1, .head_width = 20},
        S{.queries = 17, .model = 8, .heads = 5, .head_width = 32},
        S{.queries = 7, .keys = 64, .model = 30, .heads = 2, .head_width = 20, .value_width = 4}>();
}
#endif

}  // namespace ladon_test
