// Tests masks by position: windows that are limited on one side, on both sides or on no side, and positive and negative
// offsets. The offset comes from the type of the mask or from the options of a run.
#include <doctest/doctest.h>

#include "mask_sweep.hpp"

namespace ladon_test {

using ladon::mask::CausalAt, ladon::mask::Padding, ladon::mask::Window, ladon::mask::WindowAt;
constexpr std::size_t all = ladon::all;

TEST_CASE("window") { sweep_given<Window<5>, S{.queries = lanes + 1, .keys = 33, .model = 6, .heads = 2}>(); }

#if !defined(LADON_TEST_SET_QUICK)
TEST_CASE("window, more shapes") {
  sweep_given<Window<0>, S{.queries = lanes, .keys = lanes, .model = 3, .heads = 1}>();
  sweep_given<Window<2, 3>, S{.queries = 1, .keys = 100, .model = 4, .heads = 1},
              S{.queries = 100, .keys = 33, .model = 3, .heads = 1}>();
  sweep_given<Window<all, 4>, S{.queries = 33, .keys = lanes + 1, .model = 3, .heads = 1}>();
  sweep_given<Window<1, all>, S{.queries = lanes - 1, .keys = 33, .model = 3, .heads = 1}>();
}

TEST_CASE("window: blocks before and after it, some queries with one block more than others") {
  sweep_given<Window<100, 20>, S{.queries = 600, .keys = 600, .model = 2, .heads = 1}>();
  sweep_given<Window<30>, S{.queries = 3, .keys = 700, .model = 4, .heads = 1}>();
}

TEST_CASE("window and causal whose offset is known to the compiler") {
  sweep_given<WindowAt<3, 1, 2>, S{.queries = 33, .keys = 20, .model = 3, .heads = 1}>();
  sweep_given<CausalAt<-3>, S{.queries = lanes + 1, .keys = 33, .model = 3, .heads = 1}>();
  sweep_given<CausalAt<7>, S{.queries = 33, .keys = 40, .model = 3, .heads = 1}>();
}

TEST_CASE("window with padding") {
  sweep_given<decltype(Window<9>{} & Padding{}), S{.queries = 37, .keys = 300, .model = 4, .heads = 2}>();
}
#endif

#if defined(LADON_TEST_WIDE)
TEST_CASE("window with one key, with a negative offset, with projections") {
  sweep_given<Window<0>, S{.queries = 3, .keys = 1, .model = 4, .heads = 1}>();
  sweep_given<WindowAt<3, 1, -4>, S{.queries = 9, .keys = lanes + 1, .model = 3, .heads = 1}>();
  check_self(self_subject<S{.queries = 33, .model = 10, .heads = 2}, Window<5, 2>>());
}
#endif

}  // namespace ladon_test
