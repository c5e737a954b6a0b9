// Tests calls with fewer tokens than the shape has: every count from one token to two panels, with weights of every
// precision. A panel computes only the half of its packs that has tokens (`for_panels` in detail/panel/panels.hpp). The
// inputs of products may hold few tokens as rows (detail/panel/token_rows.hpp), if their sums are long enough.
#include <cstddef>
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

#if defined(LADON_TEST_SET_QUICK)
constexpr std::size_t step = 21;  // with sanitizers or in an emulator, a count takes seconds
#else
constexpr std::size_t step = 1;
#endif

std::vector<Variation> every_count() {
  std::vector<Variation> result;
  for (std::size_t n = 1; n <= shape.queries; n += step) result.push_back({.lengths = {.tokens = n}});
  return result;
}

template <class Mask, class Layout>
void check_every_count() {
  check_encoder(layer_subject<shape, layer, Mask, Layout>(),
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

// The queries and the keys end in different panels, or in different halves of a panel.
TEST_CASE("token counts: other numbers of queries than of keys") {
  const std::vector<Variation> variations{
      {.lengths = {.queries = 3, .keys = 64}},  {.lengths = {.queries = 64, .keys = 5}},
      {.lengths = {.queries = 40, .keys = 35}}, {.lengths = {.queries = 7, .keys = 20}},
      {.lengths = {.queries = 33, .keys = 17}}, {.lengths = {.queries = 18, .keys = 2}}};
  check_encoder(layer_subject<shape, layer, ladon::mask::Unmasked, ladon::layout::InProj>(), {.layer = layer},
                variations);
  using Int8 = ladon::layout::Int8<ladon::layout::InProj>;
  check_encoder(layer_subject<shape, layer, ladon::mask::Unmasked, Int8>(),
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
