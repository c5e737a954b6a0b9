// Tests encoder layers with so many tokens and hidden features that the feed-forward network is computed in several
// passes over its weights. These layers are large, so tests/CMakeLists.txt compiles this file with optimisation
// (ladon_optimise).
#include <doctest/doctest.h>

#include "attention_subject.hpp"
#include "encoder_check.hpp"
#include "encoder_subject.hpp"

namespace ladon_test {

namespace {

using S = ladon::Shape;
using ladon::Model, ladon::NormOrder;

template <S Shape, Model Config, class Mask, class Layout = ladon::layout::InProj>
void check_layer(float epsilon = 1e-5f) {
  check_encoder(layer_without_maps<Shape, Config, Mask, Layout>(),
                {.layer = Config, .projections = Layout::projections, .output = Layout::output, .epsilon = epsilon});
}

}  // namespace

// Tokens are processed in panels of up to 32 tokens. The feed-forward weights are so large that several panels share
// one pass over them. The layer has more panels than one pass takes, and the last panel has fewer tokens than the
// others. The 515 hidden features do not divide into equal chunks.
TEST_CASE("layer: several passes over the weights, post-LN") {
  check_layer<S{.queries = 32 * 5 + 3, .model = 128, .heads = 2}, Model{.feed_forward = 515}, ladon::mask::Unmasked>();
}

// linear2 has a weight matrix of 31 rows. With 1024 hidden features, its rows are 4 KB apart, so the elements of a
// column compete for one set of the L1 cache. Therefore, the innermost loop computes at most 8 rows at a time, and 7
// rows at the end. Without this limit, the loop would compute 12 rows at a time on AVX-512. On AVX2, it would do so for
// the last 5 tokens.
#if defined(__SSE2__)
template <std::size_t RowStride>
constexpr std::size_t tile_rows = ladon::detail::tile_rows<
    ladon::detail::ProductForm<ladon::detail::vec::ArrayVectors<16>, ladon::detail::PanelLayout{16, 2, 12}, 2, 64, 64>,
    ladon::detail::WeightMatrix<float, RowStride, 1>, ladon::detail::PanelsView>;
static_assert(tile_rows<1024> == 8);
static_assert(tile_rows<1040> == 12);
#endif
TEST_CASE("layer: 1024 hidden features") {
  check_layer<S{.queries = 37, .model = 31, .heads = 1}, Model{.feed_forward = 1024}, ladon::mask::Unmasked>();
}

#if !defined(LADON_TEST_SET_QUICK)
TEST_CASE("layer: several panels, concatenated heads too narrow for the sums of the feed-forward") {
  check_layer<S{.queries = 70, .model = 128, .heads = 2, .value_width = 3}, Model{.feed_forward = 515},
              ladon::mask::Unmasked, ladon::layout::SeparateQKV>();
}
#endif

#if defined(LADON_TEST_WIDE)
TEST_CASE("layer: several passes over the weights, pre-LN, a gate") {
  check_layer<S{.queries = 70, .model = 128, .heads = 1},
              Model{.feed_forward = 515, .norm = NormOrder::pre, .gated = true}, ladon::mask::Padding>();
}
#endif

}  // namespace ladon_test
