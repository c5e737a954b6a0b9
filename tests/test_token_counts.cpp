// Tests calls with fewer tokens than the shape has: counts from one token to two panels, with weights of every
// precision. A panel computes only the half of its packs that has tokens (`for_panels` in detail/panel/panels.hpp). The
// inputs of products may hold few tokens as rows (detail/panel/token_rows.hpp), if their sums are long enough.
#include <cstddef>
#include <numeric>
#include <vector>

#include <doctest/doctest.h>

#include "encoder_check.hpp"
#include "encoder_subject.hpp"

namespace ladon_test {

namespace {

using ladon::Model;
using ladon::detail::PanelLayout;

constexpr ladon::Shape shape{.queries = 64, .model = 259, .heads = 2, .head_width = 11};
constexpr Model layer{.feed_forward = 262, .activation = ladon::Activation::gelu};

// Registers have 4, 8 or 16 lanes, and panels one or two registers. So the counts lie around the multiples of 8, and
// the largest ones, for which the oracle takes longest, only around the multiples of 16.
std::vector<std::size_t> counts() {
#if defined(LADON_TEST_SET_QUICK)
  return {1, 22, 43, 64};  // with sanitizers or in an emulator, a count takes seconds
#elif defined(LADON_TEST_WIDE)
  std::vector<std::size_t> all(shape.queries);
  std::iota(all.begin(), all.end(), std::size_t(1));
  return all;
#else
  return {1, 2, 3, 4, 5, 6, 7, 8, 9, 11, 13, 15, 16, 17, 20, 23, 24, 25, 27, 31, 32, 33, 35, 40, 47, 48, 49, 64};
#endif
}

std::vector<Variation> every_count() {
  std::vector<Variation> result;
  for (const std::size_t tokens : counts()) result.push_back({.lengths = {.tokens = tokens}});
  return result;
}

template <class Mask, class Layout>
void check_every_count() {
  check_encoder(layer_without_maps<shape, layer, Mask, Layout>(),
                {.layer = layer, .activation_bits = activation_bits<typename Layout::Precision>}, every_count());
}

}  // namespace

TEST_CASE("token counts: float32") { check_every_count<ladon::mask::Causal, ladon::layout::InProj>(); }
TEST_CASE("token counts: int8") {
  check_every_count<ladon::mask::Padding, ladon::layout::Int8<ladon::layout::InProj>>();
}
TEST_CASE("token counts: bfloat16") {
  check_every_count<ladon::mask::Unmasked, ladon::layout::BFloat16<ladon::layout::InProj>>();
}

// Weights whose rows are not contiguous are multiplied in lanes, whatever the number of tokens.
TEST_CASE("token counts: weights of the order in_out") {
  check_every_count<ladon::mask::Unmasked, ladon::layout::InProjInOut>();
}

// Panels of one register of 16 lanes, of which 7 and 8 tokens fill a half.
template <class Layout>
void check_one_register() {
  constexpr ladon::Shape sixteen{.queries = 16, .model = 259, .heads = 2, .head_width = 11};
  check_encoder(layer_without_maps<sixteen, layer, ladon::mask::Unmasked, Layout>(),
                {.layer = layer, .activation_bits = activation_bits<typename Layout::Precision>},
                {{.lengths = {.tokens = 6}}, {.lengths = {.tokens = 7}}, {.lengths = {.tokens = 8}}});
}
TEST_CASE("token counts: panels of one register") {
  check_one_register<ladon::layout::InProj>();
  check_one_register<ladon::layout::Int8<ladon::layout::InProj>>();
  check_one_register<ladon::layout::BFloat16<ladon::layout::InProj>>();
}

// The queries and the keys end in different panels, or in different halves of a panel.
TEST_CASE("token counts: other numbers of queries than of keys") {
  const std::vector<Variation> variations{
      {.lengths = {.queries = 3, .keys = 64}},  {.lengths = {.queries = 64, .keys = 5}},
      {.lengths = {.queries = 40, .keys = 35}}, {.lengths = {.queries = 7, .keys = 20}},
      {.lengths = {.queries = 33, .keys = 17}}, {.lengths = {.queries = 18, .keys = 2}}};
  check_encoder(layer_without_maps<shape, layer, ladon::mask::Unmasked, ladon::layout::InProj>(), {.layer = layer},
                variations);
  using Int8 = ladon::layout::Int8<ladon::layout::InProj>;
  check_encoder(layer_without_maps<shape, layer, ladon::mask::Unmasked, Int8>(),
                {.layer = layer, .activation_bits = activation_bits<Int8::Precision>}, variations);
}

// Every active token lies in exactly one panel that is computed, and no panel of layout T has an idle half.
TEST_CASE("token counts: panels and their packs") {
  constexpr PanelLayout layout{.lanes = 4, .packs = 2, .tile_rows = 4, .halves_panels = true};
  constexpr std::size_t tokens = 24;
  for (std::size_t active = 0; active <= tokens; ++active) {
    CAPTURE(active);
    std::size_t end = 0, packs = 0;
    ladon::for_panels<layout, layout, tokens>(
        active, [&]<PanelLayout P, std::size_t Packs>(std::size_t first, std::size_t count) {
          CHECK(first * P.width() == end);
          end = (first + count) * P.width();
          packs += count * Packs;
        });
    CHECK(end == layout.panels(active) * layout.width());
    CHECK(packs == layout.packs_for(active));
  }
}

}  // namespace ladon_test
