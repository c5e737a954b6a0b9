// Tests shapes with 17 to 24 queries or keys, and with a model of at least 128 features. On AVX-512, these tokens are
// processed in three vectors of 8 lanes (`panel_layout` in detail/vec/choose.hpp). Such a vector fills half a
// register, so a matrix product computes two steps at once, one in each half (detail/product/tile_dots.hpp). On other
// targets, the vectors fill whole registers.
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

#if defined(__AVX512BW__) && LADON_HAS_XSIMD && LADON_HAS_SHUFFLE && !LADON_DETERMINISTIC
constexpr bool three_packs(std::size_t tokens, std::size_t width) {
  const ladon::detail::PanelLayout layout = ladon::detail::panel_layout<Wide>(tokens, width);
  return layout.lanes == 8 && layout.packs == 3;
}
static_assert(three_packs(17, 128) && three_packs(24, 128));
static_assert(!three_packs(16, 128) && !three_packs(25, 128), "other numbers of tokens fill whole registers");
static_assert(!three_packs(24, 127), "narrow models");
#endif

struct CappedWithSinks : ladon::score::Scaled {
  static constexpr float softcap = 3;
  static constexpr bool sinks = true;
};

}  // namespace

TEST_CASE("half packs: causal and padding") {
  check_self(
      self_subject<S{.queries = 19, .model = model, .heads = 2, .head_width = 9}, decltype(Causal{} & Padding{})>());
}

TEST_CASE("half packs: int8") {
  check_self(self_subject<S{.queries = 23, .model = 131, .heads = 1, .head_width = 17}, Unmasked,
                          ladon::layout::Int8<InProj>>());
}

// With AVX-512 VNNI, products of 9 to 12 tokens skip the last 4 of 16 lanes. In these shapes, rows of weights are long
// enough to be prefetched (at least 256 weights), and end with an incomplete tuple of four weights.
TEST_CASE("int8: 9, 11 and 44 tokens, prefetched rows") {
  check_self(self_subject<S{.queries = 11, .model = 267, .heads = 1, .head_width = 17}, Unmasked,
                          ladon::layout::Int8<InProj>>());
  check_cross(attention_subject<S{.queries = 9, .keys = 44, .model = 261, .heads = 1, .head_width = 5}, Unmasked,
                                ladon::layout::Int8<InProj>>());
}

#if !defined(LADON_TEST_SET_QUICK)
TEST_CASE("half packs: bits and numbers, cap and sinks, every captured stage") {
  check_cross(attention_subject<S{.queries = 17, .keys = 24, .model = model, .heads = 2, .head_width = 3},
                                decltype(Bits{} & AdditivePerHead{}), ladon::layout::InOut, Wide, CappedWithSinks,
                                ladon::position::Unrotated, Captures::every_stage>());
}

TEST_CASE("half packs: only the keys, a window and slopes") {
  check_cross(attention_subject<S{.queries = 37, .keys = 22, .model = 128, .heads = 2, .head_width = 5},
                                decltype(Window<9, 3>{} & Alibi{})>());
}

TEST_CASE("half packs: only the queries, several blocks of keys") {
  check_cross(attention_subject<S{.queries = 20, .keys = 300, .model = 128, .heads = 1, .head_width = 4}, Causal,
                                ladon::layout::BFloat16<ladon::layout::SeparateQKV>>());
}

TEST_CASE("half packs: a cache, and a ring") {
  check_cached(cached_subject<S{.queries = 18, .keys = 21, .model = 128, .heads = 2, .head_width = 4}, Causal>(),
               {{{18, 1, 1, 1}}, {{2, 17, 2}, false}});
  check_cached(cached_subject<S{.queries = 2, .keys = 18, .model = 128, .heads = 1, .head_width = 4}, Window<16>>(),
               {{{2, 1, 2, 2, 2, 2, 2, 1, 1, 2, 2, 2, 2, 2, 1, 2}}});
}

TEST_CASE("half packs: encoder layer") {
  constexpr ladon::Model config{
      .feed_forward = 35, .activation = ladon::Activation::gelu, .norm = ladon::NormOrder::pre};
  check_encoder(layer_subject<S{.queries = 21, .model = 128, .heads = 1}, config, Padding, InProj>(),
                {.layer = config});
}
#endif

}  // namespace ladon_test
