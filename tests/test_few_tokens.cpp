// Tests shapes with at most half as many tokens as a vector register has lanes. The innermost loop of a product then
// computes several steps at once, side by side in one register (detail/product/tile_dots.hpp). Each step adds one term
// to each sum. For some sums, the number of terms is not a multiple of the number of steps. The tests also cover every
// number of rows that the loop can compute, and models so wide that the kernel prefetches rows of weights.
#include <doctest/doctest.h>

#include "encoder_check.hpp"
#include "encoder_subject.hpp"
#include "sweep.hpp"

namespace ladon_test {

namespace {

using ladon::detail::panel_layout;
using Wide = ladon::detail::vec::NativeVectors;

template <std::size_t Tokens, std::size_t Inner, std::size_t InnerStride = 1>
constexpr std::size_t folded = ladon::detail::folded_steps<Wide, panel_layout<Wide>(Tokens), Inner,
                                                           ladon::detail::WeightMatrix<float, Inner, InnerStride>>;

[[maybe_unused]] constexpr bool folds_at_all = !LADON_DETERMINISTIC && LADON_HAS_XSIMD;

// Checks how many steps of a product are computed at once, side by side in one register, for 8, 3, 9 and 1 tokens.
#if defined(__AVX512F__)
static_assert(folded<8, 40> == (folds_at_all ? 2 : 1) && folded<3, 40> == (folds_at_all ? 4 : 1));
#elif defined(__AVX__)
static_assert(folded<8, 40> == 1 && folded<3, 40> == (folds_at_all ? 2 : 1));
#endif
static_assert(folded<9, 40> == 1 || Wide::lanes > 16);
static_assert(folded<1, 40> == 1, "a token alone has kernels of its own");
static_assert(folded<8, 15> == 1, "short sums");
static_assert(folded<8, 40, 40> == 1, "weights (in, out): neighbours of a row do not lie side by side");

}  // namespace

TEST_CASE("few tokens: up to eight, every remainder") {
  sweep<ladon::mask::Causal, S{.queries = 8, .model = 33, .heads = 3, .head_width = 11},
        S{.queries = 5, .keys = 7, .model = 36, .heads = 2, .head_width = 17},
        S{.queries = 6, .keys = 40, .model = 50, .heads = 1, .head_width = 35, .value_width = 47}>();
}

TEST_CASE("few tokens: up to four, every remainder") {
  sweep<ladon::mask::Padding, S{.queries = 4, .model = 33, .heads = 3, .head_width = 11},
        S{.queries = 3, .keys = 2, .model = 34, .heads = 2, .head_width = 17},
        S{.queries = 2, .keys = 40, .model = 51, .heads = 1, .head_width = 35, .value_width = 47}>();
}

// The models are wide, so the test tries only some lengths.
TEST_CASE("few tokens: prefetched rows") {
  for (const Subject& subject : {self_subject<S{.queries = 7, .model = 259, .heads = 7}, ladon::mask::Unmasked>(),
                                 self_subject<S{.queries = 4, .model = 272, .heads = 2}, ladon::mask::Unmasked>()}) {
    for (const Lengths& lengths : {Lengths{}, Lengths{.queries = 2}, Lengths{.keys = 3}, Lengths{.tokens = 1}}) {
      check_problem(subject, {.lengths = lengths}, random_problem(subject, false, 1));
    }
  }
}

TEST_CASE("few tokens: encoder layers") {
  check_encoder(layer_without_maps<S{.queries = 7, .model = 37, .heads = 1},
                                   ladon::Model{.feed_forward = 67, .activation = ladon::Activation::gelu},
                                   ladon::mask::Padding, ladon::layout::InProj>(),
                {.layer = {.feed_forward = 67, .activation = ladon::Activation::gelu}});
  constexpr ladon::Model gated{.feed_forward = 45,
                               .activation = ladon::Activation::silu,
                               .norm = ladon::NormOrder::pre,
                               .gated = true,
                               .norm_kind = ladon::NormKind::rms};
  check_encoder(
      layer_without_maps<S{.queries = 3, .model = 38, .heads = 2}, gated, ladon::mask::Causal, ladon::layout::InProj>(),
      {.layer = gated});
}

}  // namespace ladon_test
