// Tests rows of several key blocks under masks with an entry for each pair of query and key. The masks hide the first,
// a middle or the last block from all queries or from some queries.
#include <doctest/doctest.h>

#include "mask_sweep.hpp"

namespace ladon_test {

namespace {

constexpr S long_rows{.queries = lanes + 1, .keys = 900, .model = 4, .heads = 2};  // 3 blocks of 256, then 132 keys
constexpr std::size_t block = 256;

// Returns whether a query sees a key. Queries 0, 3, 6, ... see all blocks of keys except block `hidden`. Queries 1, 4,
// 7, ... see all blocks. Queries 2, 5, 8, ... see only block `hidden`.
bool shows(std::size_t hidden, std::size_t query, std::size_t key) {
  const bool in = key / block == hidden;
  return query % 3 == 0 ? !in : query % 3 == 1 || in;
}

void check(const Subject& subject, const Variation& variation) {
  INFO(to_string(subject, variation));
  check_given(subject, variation);
}

template <class Mask>
void check_hidden_blocks() {
  const Subject subject = given_subject<long_rows, Mask>();
  for (std::size_t hidden = 0; hidden < 4; ++hidden) {
    CAPTURE(hidden);
    for (const bool from_all : {false, true}) {
      Variation variation;
      const std::size_t heads = subject.mask.boolean_per_head || subject.mask.additive_per_head ? 2 : 1;
      for (std::size_t i = 0; i < heads * long_rows.queries * long_rows.keys; ++i) {
        const std::size_t row = i / long_rows.keys, query = from_all ? 0 : row % long_rows.queries;
        const bool shown = shows((hidden + row / long_rows.queries) % 4, query, i % long_rows.keys);
        if (subject.mask.per_pair()) variation.pairs.push_back(shown);
        if (subject.mask.adds()) variation.values.push_back(shown ? 0.01f * static_cast<float>(i % 7) : -INFINITY);
      }
      check(subject, variation);
    }
  }
}

}  // namespace

TEST_CASE("blocks hidden by bits") { check_hidden_blocks<ladon::mask::Bits>(); }

#if !defined(LADON_TEST_SET_QUICK)
TEST_CASE("blocks hidden by bytes for each head") { check_hidden_blocks<ladon::mask::BooleanPerHead>(); }
TEST_CASE("blocks hidden by -inf") { check_hidden_blocks<ladon::mask::Additive>(); }
TEST_CASE("blocks hidden by bits or by a causal mask") {
  check_hidden_blocks<decltype(ladon::mask::Bits{} & ladon::mask::Causal{})>();
}

TEST_CASE("blocks hidden by a window that ends at a block boundary") {
  const Subject subject = given_subject<long_rows, ladon::mask::Window<block - 1>>();
  for (const std::ptrdiff_t offset : {-1, 0, 254, 255, 256, 510, 511, 512, 767, 899, 1150, 1160}) {
    check(subject, {.lengths = {.offset = offset}});
  }
}
#endif

}  // namespace ladon_test
