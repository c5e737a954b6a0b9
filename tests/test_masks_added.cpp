// Tests masks that add numbers to the scores. Additive adds a number for each pair of query and key. Alibi adds the
// product of a slope and a distance: the slope of the head, and the position of the key minus the position of the
// query. Relative adds a number for each head and distance.
#include <array>
#include <cmath>

#include <doctest/doctest.h>

#include "mask_sweep.hpp"

namespace ladon_test {

using ladon::mask::Additive, ladon::mask::AdditivePerHead, ladon::mask::Alibi, ladon::mask::Causal,
    ladon::mask::Relative;

TEST_CASE("additive") { sweep_given<Additive, S{.queries = lanes + 1, .keys = 33, .model = 6, .heads = 2}>(); }

TEST_CASE("alibi and causal") {
  sweep_given<decltype(Alibi{} & Causal{}), S{.queries = 33, .keys = lanes + 1, .model = 12, .heads = 4}>();
}

TEST_CASE("relative and causal") {
  sweep_given<decltype(Causal{} & Relative{}), S{.queries = 33, .keys = lanes + 1, .model = 12, .heads = 4}>();
}

// The buckets of transformers 5.24, in float32: T5Attention._relative_position_bucket.
TEST_CASE("relative positions have the buckets of T5") {
  using ladon::relative_bucket;
  for (const bool causal : {false, true}) {
    for (const int buckets : {32, 8}) {
      const int half = causal ? buckets : buckets / 2, exact = half / 2;
      for (int distance = -300; distance <= 300; ++distance) {
        const int far = causal ? std::max(-distance, 0) : std::abs(distance);
        int expected = !causal && distance > 0 ? half : 0;
        if (far < exact) {
          expected += far;
        } else {
          const float share = std::log(static_cast<float>(far) / static_cast<float>(exact)) /
                              static_cast<float>(std::log(128.0 / exact)) * static_cast<float>(half - exact);
          expected += std::min(exact + static_cast<int>(share), half - 1);
        }
        CHECK(relative_bucket(distance, {.count = static_cast<std::size_t>(buckets), .causal = causal}) ==
              static_cast<std::size_t>(expected));
      }
    }
  }
  CHECK(relative_bucket(-64, {}) == 14);
  CHECK(relative_bucket(32, {}) == 28);
  CHECK(relative_bucket(5, {.causal = true}) == 0);
}

// The table of an image of 2 x 3 patches has 3 x 5 distances of patches, and three more.
TEST_CASE("the bias of an image has the numbers of BEiT's distances") {
  constexpr auto bias = [] {
    std::array<float, 36> table{};
    for (std::size_t i = 0; i < 36; ++i) table[i] = static_cast<float>(i);
    std::array<float, 2 * 49> filled{};
    ladon::fill_image_bias(filled.data(), table.data(), 2, 2, 3);
    return filled;
  }();
  const auto of = [&](std::size_t head, std::size_t query, std::size_t key) {
    return bias[(head * 7 + query) * 7 + key];
  };
  CHECK(of(0, 0, 0) == 2 * 17);      // the class token and itself
  CHECK(of(1, 0, 4) == 2 * 15 + 1);  // from the class token to a patch
  CHECK(of(0, 4, 0) == 2 * 16);      // from a patch to the class token
  CHECK(of(1, 2, 2) == 2 * 7 + 1);   // a patch and itself: the middle of 3 x 5
  CHECK(of(0, 6, 1) == 2 * 14);      // the last patch and the first: one row and two columns
  CHECK(of(0, 1, 6) == 0);
  CHECK(of(1, 3, 4) == 2 * (0 * 5 + 4) + 1);
}

TEST_CASE("a relative table has the weights of the buckets, times log2(e)") {
  static constexpr auto weights = [] {
    std::array<float, 64> numbers{};
    for (std::size_t i = 0; i < 64; ++i) numbers[i] = static_cast<float>(i) / 8;
    return numbers;
  }();
  static constexpr auto table = [] {
    ladon::RelativeTable<2, 40> filled;
    ladon::fill_relative_table(filled, weights.data(), {.max_distance = 20});
    return filled;
  }();
  for (std::size_t head = 0; head < 2; ++head) {
    for (std::ptrdiff_t distance = -39; distance < 40; ++distance) {
      const std::size_t bucket = ladon::relative_bucket(distance, {.max_distance = 20});
      const float value = table.values[head * table.row_size + static_cast<std::size_t>(39 - distance)];
      CHECK(value == weights[bucket * 2 + head] * static_cast<float>(ladon::score::log2_e));
    }
  }
}

#if !defined(LADON_TEST_SET_QUICK)
TEST_CASE("relative, more shapes and joined with other masks") {
  sweep_given<Relative, S{.queries = 1, .keys = 100, .model = 4, .heads = 1},
              S{.queries = lanes + 3, .keys = 5, .model = 3, .heads = 1},
              S{.queries = 5, .keys = 600, .model = 4, .heads = 1}>();
  sweep_given<decltype((Additive{} & ladon::mask::Padding{}) & Relative{}),
              S{.queries = 37, .keys = 40, .model = 6, .heads = 3}>();
}

TEST_CASE("additive, more shapes") {
  sweep_given<Additive, S{.queries = 1, .keys = 100, .model = 4, .heads = 1},
              S{.queries = lanes - 1, .keys = lanes, .model = 3, .heads = 1},
              S{.queries = 5, .keys = 600, .model = 4, .heads = 1}>();
}

TEST_CASE("additive for each head") {
  sweep_given<AdditivePerHead, S{.queries = 3, .keys = lanes + 1, .model = 12, .heads = 4, .kv_heads = 2},
              S{.queries = 33, .keys = 33, .model = 6, .heads = 3}>();
}

TEST_CASE("alibi, also with a number of heads that is not a power of two") {
  sweep_given<Alibi, S{.queries = 3, .keys = 33, .model = 6, .heads = 6},
              S{.queries = 1, .keys = lanes, .model = 1, .heads = 1},
              S{.queries = 7, .keys = 520, .model = 10, .heads = 5}>();
}

TEST_CASE("a mask that adds and a mask that hides") {
  using ladon::mask::Boolean;
  sweep_given<decltype(Additive{} & Causal{}), S{.queries = 37, .keys = 40, .model = 6, .heads = 2}>();
  sweep_given<decltype(Boolean{} & Additive{}), S{.queries = 7, .keys = 300, .model = 4, .heads = 1}>();
  sweep_given<decltype((AdditivePerHead{} & Alibi{}) & ladon::mask::Padding{}),
              S{.queries = lanes, .keys = 33, .model = 6, .heads = 2}>();
}
#endif

#if defined(LADON_TEST_WIDE)
TEST_CASE("additive and alibi, the other shapes of the wide set") {
  sweep_given<Additive, S{.queries = 33, .keys = 1, .model = 3, .heads = 1},
              S{.queries = 100, .keys = 3, .model = 3, .heads = 1}>();
  sweep_given<Alibi, S{.queries = 2, .keys = 5, .model = 12, .heads = 12}>();
}

TEST_CASE("additive with projections") {
  check_self(self_subject<S{.queries = lanes + 1, .model = 10, .heads = 2}, AdditivePerHead>());
}
#endif

}  // namespace ladon_test
