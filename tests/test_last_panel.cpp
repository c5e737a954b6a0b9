// Tokens are processed in panels (groups of tokens). Tests shapes whose last panel has fewer tokens than the others.
// `last_panel_layout` (detail/vec/choose.hpp) chooses the vectors that hold the tokens of the last panel. On AVX-512,
// the shapes below lead to one vector of 4, 8 or 16 lanes, or to two vectors of 16 lanes.
// Each check also runs with shorter active lengths and with hidden keys.
#include <vector>

#include <doctest/doctest.h>

#include "cached_check.hpp"
#include "encoder_check.hpp"
#include "encoder_subject.hpp"
#include "mask_sweep.hpp"

namespace ladon_test {

namespace {

using namespace ladon::mask;
using ladon::Activation;
using ladon::Model;
using ladon::layout::BFloat16;
using ladon::layout::InProj;
using ladon::layout::Int8;
using ladon::layout::SeparateQKV;
using Wide = ladon::detail::vec::NativeVectors;

#if defined(__AVX512BW__) && LADON_HAS_XSIMD && LADON_HAS_SHUFFLE && !LADON_DETERMINISTIC
constexpr bool has_last(std::size_t tokens, std::size_t lanes, std::size_t packs) {
  const ladon::detail::PanelLayout last = ladon::detail::last_panel_layout<Wide>(tokens);
  return last.lanes == lanes && last.packs == packs;
}
static_assert(has_last(33, 4, 1) && has_last(99, 4, 1));
static_assert(has_last(40, 8, 1) && has_last(48, 16, 1));
static_assert(has_last(51, 16, 2) && has_last(64, 16, 2));
#endif

struct CappedWithSinks : ladon::score::Scaled {
  static constexpr float softcap = 3;
  static constexpr bool sinks = true;
};

template <S Shape, Model Config, class Mask, class Layout = InProj>
void check_layer() {
  check_encoder(layer_without_maps<Shape, Config, Mask, Layout>(),
                {.layer = Config, .activation_bits = activation_bits<typename Layout::Precision>});
}

}  // namespace

TEST_CASE("last panel: attention, causal and padding") {
  check_attention(
      attention_subject<S{.queries = 35, .model = 17, .heads = 2, .head_width = 9}, decltype(Causal{} & Padding{})>());
}

TEST_CASE("last panel: attention, int8 and bfloat16") {
  check_self(self_subject<S{.queries = 33, .model = 19, .heads = 1, .head_width = 7}, Padding, Int8<InProj>>());
  check_self(
      self_subject<S{.queries = 37, .model = 21, .heads = 1, .head_width = 6}, Unmasked, BFloat16<SeparateQKV>>());
}

TEST_CASE("last panel: encoder layer of three tokens more than whole panels") {
  constexpr Model config{.feed_forward = 37, .activation = Activation::gelu_tanh};
  check_layer<S{.queries = 35, .model = 20, .heads = 2}, config, Padding>();
  check_layer<S{.queries = 35, .model = 20, .heads = 2}, config, Padding, Int8<InProj>>();
}

TEST_CASE("last panel: at most four queries without a mask, every captured stage") {
  check_cross(attention_subject<S{.queries = 35, .keys = 99, .model = 17, .heads = 2, .head_width = 3}, Unmasked,
                                ladon::layout::InOut, Wide, CappedWithSinks, ladon::position::Unrotated,
                                Captures::every_stage>());
  check_cross(attention_subject<S{.queries = 33, .keys = 1, .model = 18, .heads = 2, .head_width = 5}, Unmasked>());
}

#if !defined(LADON_TEST_SET_QUICK)
TEST_CASE("last panel: attention to a context") {
#if defined(LADON_TEST_WIDE)
  constexpr Captures captures = Captures::every_stage;
#else
  constexpr Captures captures =
      Captures::weights;  // test_beyond_a_register.cpp captures every stage under the same masks
#endif
  check_cross(attention_subject<S{.queries = 49, .keys = 99, .model = 17, .heads = 2, .head_width = 3},
                                decltype(Bits{} & AdditivePerHead{}), ladon::layout::InOut, Wide, CappedWithSinks,
                                ladon::position::Unrotated, captures>());
}

TEST_CASE("last panel: several blocks of keys, int8") {
  check_cross(attention_subject<S{.queries = 41, .keys = 513, .model = 16, .heads = 1, .head_width = 4}, Causal,
                                Int8<SeparateQKV>>());
}

TEST_CASE("last panel: a register and a few tokens") {
  check_self(self_subject<S{.queries = 51, .model = 131, .heads = 1, .head_width = 17}, Causal>());
  check_self(self_subject<S{.queries = 51, .model = 131, .heads = 1, .head_width = 17}, Unmasked, Int8<InProj>>());
}

TEST_CASE("last panel: a cache") {
  check_cached(cached_subject<S{.queries = 35, .keys = 70, .model = 18, .heads = 2, .head_width = 4}, Causal>(),
               {{{35, 33, 1, 1}}, {{34, 35, 1}, false}});
}

// The weights of linear1 and linear2 together exceed second_cache_bytes. So the kernel divides the hidden features of
// each full panel into chunks, and computes one chunk after another.
TEST_CASE("last panel: encoder layer with chunks of hidden features") {
  constexpr Model config{.feed_forward = 513, .activation = Activation::relu, .norm = ladon::NormOrder::pre};
  // Without optimisation, a layer of this size takes long, so the test tries only three lengths.
  const std::vector<Variation> variations{{}, {.lengths = {.tokens = 34}}, {.lengths = {.queries = 18}}};
  check_encoder(layer_without_maps<S{.queries = 35, .model = 132, .heads = 1}, config, Unmasked>(), {.layer = config},
                variations);
#if defined(LADON_TEST_WIDE)
  using Rounded = BFloat16<InProj>;
  check_encoder(layer_without_maps<S{.queries = 40, .model = 132, .heads = 1}, config, Unmasked, Rounded>(),
                {.layer = config, .activation_bits = activation_bits<Rounded::Precision>}, variations);
#endif
}

TEST_CASE("last panel: gated encoder layer, bfloat16") {
  constexpr Model config{
      .feed_forward = 29, .activation = Activation::silu, .gated = true, .norm_kind = ladon::NormKind::rms};
  check_layer<S{.queries = 99, .model = 22, .heads = 1}, config, Causal, BFloat16<InProj>>();
}
#endif

#if defined(LADON_TEST_WIDE)
TEST_CASE("last panel: attention to a context, bfloat16") {
  check_cross(attention_subject<S{.queries = 99, .keys = 35, .model = 18, .heads = 2, .head_width = 5},
                                decltype(Window<9, 3>{} & Alibi{}), BFloat16<InProj>>());
}

TEST_CASE("last panel: a cache, int8") {
  check_cached(cached_subject<S{.queries = 33, .keys = 40, .model = 18, .heads = 2, .head_width = 4}, Causal,
                              ladon::score::Scaled, ladon::position::Unrotated, Int8<InProj>>(),
               {{{33, 1, 6}}});
}
#endif

}  // namespace ladon_test
