// Tests shapes with 17 to 24 queries or keys, and with a model of at least 128 features. On AVX-512, the first 16
// tokens fill a register. Products with long sums may compute the others as rows (detail/panel/token_rows.hpp).
#include <doctest/doctest.h>

#include "cached_check.hpp"
#include "encoder_check.hpp"
#include "encoder_subject.hpp"
#include "mask_sweep.hpp"

namespace ladon_test {

namespace {

using namespace ladon::mask;
using ladon::layout::InProj;
using Wide = ladon::detail::vec::NativeVectors;
constexpr std::size_t model = 129;  // odd, so a product ends with a single step

struct CappedWithSinks : ladon::score::Scaled {
  static constexpr float softcap = 3;
  static constexpr bool sinks = true;
};

}  // namespace

TEST_CASE("beyond a register: causal and padding") {
  check_self(
      self_subject<S{.queries = 19, .model = model, .heads = 2, .head_width = 9}, decltype(Causal{} & Padding{})>());
}

TEST_CASE("beyond a register: int8") {
  check_self(self_subject<S{.queries = 23, .model = 131, .heads = 1, .head_width = 17}, Unmasked,
                          ladon::layout::Int8<InProj>>());
}

// Rows of weights are long enough to be prefetched (at least 256 weights), and end with an incomplete tuple.
TEST_CASE("int8: 9, 11 and 44 tokens, prefetched rows") {
  check_self(self_subject<S{.queries = 11, .model = 267, .heads = 1, .head_width = 17}, Unmasked,
                          ladon::layout::Int8<InProj>>());
  check_cross(attention_subject<S{.queries = 9, .keys = 44, .model = 261, .heads = 1, .head_width = 5}, Unmasked,
                                ladon::layout::Int8<InProj>>());
}

#if !defined(LADON_TEST_SET_QUICK)
TEST_CASE("beyond a register: bits and numbers, cap and sinks, every captured stage") {
  check_cross(attention_subject<S{.queries = 17, .keys = 24, .model = model, .heads = 2, .head_width = 3},
                                decltype(Bits{} & AdditivePerHead{}), ladon::layout::InOut, Wide, CappedWithSinks,
                                ladon::position::Unrotated, Captures::every_stage>());
}

TEST_CASE("beyond a register: only the keys, a window and slopes") {
  check_cross(attention_subject<S{.queries = 37, .keys = 22, .model = 128, .heads = 2, .head_width = 5},
                                decltype(Window<9, 3>{} & Alibi{})>());
}

TEST_CASE("beyond a register: only the queries, several blocks of keys") {
  check_cross(attention_subject<S{.queries = 20, .keys = 300, .model = 128, .heads = 1, .head_width = 4}, Causal,
                                ladon::layout::BFloat16<ladon::layout::SeparateQKV>>());
}

TEST_CASE("beyond a register: a cache, and a ring") {
  check_cached(cached_subject<S{.queries = 18, .keys = 21, .model = 128, .heads = 2, .head_width = 4}, Causal>(),
               {{{18, 1, 1, 1}}, {{2, 17, 2}, false}});
  check_cached(cached_subject<S{.queries = 2, .keys = 18, .model = 128, .heads = 1, .head_width = 4}, Window<16>>(),
               {{{2, 1, 2, 2, 2, 2, 2, 1, 1, 2, 2, 2, 2, 2, 1, 2}}});
}

TEST_CASE("beyond a register: encoder layer") {
  constexpr ladon::Model config{
      .feed_forward = 35, .activation = ladon::Activation::gelu, .norm = ladon::NormOrder::pre};
  check_encoder(layer_without_maps<S{.queries = 21, .model = 128, .heads = 1}, config, Padding, InProj>(),
                {.layer = config});
}
#endif

}  // namespace ladon_test
