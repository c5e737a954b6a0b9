// Tests the kernels for a single query (detail/attention/single.hpp). One call for several heads must give the
// same bits as a call for each head. In some shapes, the kernels read keys and values from one place, and in the others
// from several places at the same time.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <vector>

#include <doctest/doctest.h>
#include <ladon/ladon.hpp>

#include "guarded_run.hpp"
#include "random.hpp"

namespace ladon_test {

namespace {

using namespace ladon::detail;
using ladon::CachePrecision;

struct Capped : ladon::score::Scaled {
  static constexpr float softcap = 3;
  static constexpr bool sinks = true;
};

constexpr std::size_t most_heads = 4;

// The keys and values of one head, and the queries of four heads that share these keys and values.
template <ladon::Shape S>
struct Group {
  static constexpr PanelLayout layout = ShapeLayout<S, vec::NativeVectors>::keys;
  static constexpr std::size_t slots = layout.panels(S.keys) * layout.width();
  CachePanels<S.keys, S.head_width, layout, S.cache_precision> keys{};
  CachePanels<S.keys, S.value_width, layout, S.cache_precision> values{};
  Floats query;

  Group() {
    Random random(7);
    query = random.normals(most_heads * S.head_width, 2);
    const Floats k = random.normals(S.keys * S.head_width), v = random.normals(S.keys * S.value_width);
    for (std::size_t key = 0; key < S.keys; ++key) {
      keys.store(key, k.data() + key * S.head_width, 1);
      values.store(key, v.data() + key * S.value_width, 1);
    }
  }

  // Returns the outputs of four heads. The heads are computed by calls of attend_single_query for `Heads` heads each.
  template <std::size_t Heads, class BoundMask>
  Floats attend(const BoundMask& mask, bool values_finite) const {
    using View = decltype(keys.view());
    using Types = AttentionTypes<S, void, Capped, ladon::position::Unrotated, vec::NativeVectors>;
    using Form = AttendForm<Types, vec::NativeVectors, panel_layout<vec::NativeVectors>(1), 1, View>;
    Floats results(most_heads * S.value_width), scores(Heads * slots);
    for (std::size_t h = 0; h < most_heads; h += Heads) {
      std::ranges::fill(scores, std::numeric_limits<float>::quiet_NaN());
      QueryHeads<View, Heads> heads{{keys.view(), values.view(), values_finite}, h, {}};
      for (std::size_t i = 0; i < Heads; ++i) heads.sink[i] = 0.1f * static_cast<float>(h + i);
      const QueryBlock block{
          query.data() + h * S.head_width, {0, 1}, scores.data(), results.data() + h * S.value_width, nullptr};
      attend_single_query<Form>(heads, block, mask);
    }
    return results;
  }
};

template <ladon::Shape Incomplete>
void check_group() {
  const auto group = std::make_unique<Group<Incomplete.complete()>>();
  const std::vector<float> slopes{0.5f, 0.25f, 0.125f, 0.0625f};
  std::vector<std::uint8_t> may_see(Incomplete.keys, 1);
  for (std::size_t key = 0; key < Incomplete.keys; key += 3) may_see[key] = 0;
  const auto check = [&](const auto& mask, bool finite) {
    const Floats one = group->template attend<1>(mask, finite);
    CHECK(same_bits(group->template attend<2>(mask, finite), one));
    CHECK(same_bits(group->template attend<4>(mask, finite), one));
  };
  check(ladon::mask::BoundUnmasked(Incomplete.keys - 1), true);
  check(ladon::mask::BoundAlibi{slopes.data(), 3, Incomplete.keys}, true);
  for (const bool finite : {true, false}) {
    check(ladon::mask::BoundPadding(may_see.data(), KeyRanges{{1, Incomplete.keys - 1}, {0, 0}}), finite);
  }
}

}  // namespace

TEST_CASE("single query: several heads together and one head after another") {
  if constexpr (vec::NativeVectors::lanes > 1 && !LADON_DETERMINISTIC) {
    check_group<ladon::Shape{.queries = 1, .keys = 37, .model = 28, .heads = 4, .kv_heads = 1}>();
    check_group<ladon::Shape{.queries = 1, .keys = 301, .model = 148, .heads = 4, .kv_heads = 1, .value_width = 35}>();
    check_group<ladon::Shape{
        .queries = 1, .keys = 301, .model = 148, .heads = 4, .kv_heads = 1, .cache_precision = CachePrecision::int8}>();
    check_group<ladon::Shape{.queries = 1,
                             .keys = 601,
                             .model = 260,
                             .heads = 4,
                             .kv_heads = 1,
                             .cache_precision = CachePrecision::bfloat16}>();
  }
}

}  // namespace ladon_test
