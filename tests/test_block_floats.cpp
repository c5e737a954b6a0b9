// Tests attention with integers (detail/attention/block_floats.hpp) against the oracle. Cortex-M0+ computes attention
// in this way. Any machine can run this target.
#include <doctest/doctest.h>

#include "attention_check.hpp"
#include "attention_subject.hpp"
#include "cached_check.hpp"

namespace ladon_test {

namespace {

using S = ladon::Shape;
using ladon::layout::InProj, ladon::mask::Causal, ladon::mask::None, ladon::mask::Padding;

struct BlockFloats : ladon::detail::simd::ArrayVectors<1> {
  static constexpr bool uses_block_floats = true;
};

}  // namespace

TEST_CASE("block floats: attention, several panels and an incomplete panel") {
  check_attention(attention_subject<S{.queries = 19, .model = 12, .heads = 3}, None, InProj, BlockFloats>());
}

TEST_CASE("block floats: keys from a context, causal and padding") {
  check_attention(attention_subject<S{.queries = 5, .keys = 37, .model = 17, .heads = 2, .head_width = 20},
                                    CausalAndPadding, InProj, BlockFloats>());
}

TEST_CASE("block floats: wide heads") {
  check_attention(attention_subject<S{.queries = 9, .model = 8, .heads = 1, .head_width = 64, .value_width = 3}, Causal,
                                    InProj, BlockFloats>());
}

#if !defined(LADON_TEST_SET_QUICK)
TEST_CASE("block floats: several blocks of keys") {
  check_attention(
      attention_subject<S{.queries = 5, .keys = 600, .model = 6, .heads = 2}, Padding, InProj, BlockFloats>());
}

TEST_CASE("block floats: int8 weights") {
  check_attention(
      attention_subject<S{.queries = 33, .model = 24, .heads = 3}, Causal, ladon::layout::Int8<InProj>, BlockFloats>());
}
#endif

}  // namespace ladon_test
