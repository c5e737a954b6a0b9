// Tests masks that a user writes. include/ladon/mask/policy.hpp refers to this file as an example. Each mask is
// compared with a mask of the library that has the same meaning.
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <vector>

#include <doctest/doctest.h>

#include <ladon/ladon.hpp>

namespace {

using ladon::Range, ladon::Shape;
using ladon::mask::KeyRanges, ladon::mask::NoScratch, ladon::mask::Placement, ladon::mask::ScoreBlock;

// Query i sees key 0, and every key from position i + offset on. The mask depends only on positions, so BoundByPosition
// provides most of the members.
struct BoundFirstAndLater : ladon::mask::BoundByPosition<BoundFirstAndLater> {
  static constexpr bool hides_keys = true;
  std::ptrdiff_t offset;
  std::size_t keys;

  constexpr BoundFirstAndLater(const Placement& placement) noexcept
      : offset(placement.offset), keys(placement.lengths.keys) {}
  constexpr KeyRanges key_ranges(Range) const noexcept { return {{0, keys}, {0, keys < 1 ? keys : 1}}; }
  template <class Pack>
  constexpr typename Pack::Mask may_see(const Pack& query, std::size_t key) const noexcept {
    if (key == 0) return Pack::every_lane(true);
    const std::ptrdiff_t position = static_cast<std::ptrdiff_t>(key) - offset;
    return query <= Pack::broadcast(static_cast<float>(position));
  }
};
struct FirstAndLater {
  template <Shape S>
  struct Data {};
  template <Shape S>
  static constexpr auto bind_to(const Placement& placement, const Data<S>&) noexcept {
    return BoundFirstAndLater(placement);
  }
};

// A mask that adds bias[key] to the score of each key. It does not use BoundByPosition. The scores that `add` gets are
// already multiplied by log2(e), so `add` multiplies the bias by log2(e), too.
template <class Pack>
struct KeyBiasLanes {
  const float* bias;
  constexpr typename Pack::Mask may_see(std::size_t, std::size_t) const noexcept { return Pack::every_lane(true); }
  constexpr Pack add(std::size_t, std::size_t key, const Pack& score) const noexcept {
    return score + Pack::broadcast(bias[key] * static_cast<float>(ladon::score::log2_e));
  }
};
struct BoundKeyBias {
  static constexpr bool hides_keys = false;
  static constexpr bool adds_to_scores = true;
  template <std::size_t KeyWidth, std::size_t Width>
  using Scratch = NoScratch;
  const float* bias;
  std::size_t keys;

  constexpr KeyRanges key_ranges(Range) const noexcept { return {{0, keys}, {0, keys}}; }
  constexpr bool may_see_any(Range, Range) const noexcept { return true; }
  template <class Pack, std::size_t Width>
  constexpr KeyBiasLanes<Pack> lanes(const ScoreBlock&, NoScratch&) const noexcept {
    return {bias};
  }
};
struct KeyBias {
  template <Shape S>
  struct Data {
    ladon::VectorView<const float, S.keys> bias;
  };
  template <Shape S>
  static constexpr auto bind_to(const Placement& placement, const Data<S>& data) noexcept {
    return BoundKeyBias{data.bias.data, placement.lengths.keys};
  }
};

static_assert(ladon::mask::Policy<FirstAndLater> && ladon::mask::Policy<KeyBias>);
static_assert(!ladon::mask::Policy<BoundKeyBias> && !ladon::mask::Policy<int>);

// Each type below lacks one member that the concept BoundPolicy requires of a mask. BoundPolicy must reject all of
// them.
using ladon::mask::BoundPolicy;
template <class Pack>
struct LanesWithoutAdd : KeyBiasLanes<Pack> {
  void add() const;
};
template <class Pack>
struct LanesWithoutMaySee : KeyBiasLanes<Pack> {
  void may_see() const;
};
template <template <class> class Lanes>
struct WithLanes : BoundKeyBias {
  template <class Pack, std::size_t Width>
  Lanes<Pack> lanes(const ScoreBlock&, NoScratch&) const;
};
struct WithoutHidesKeys : BoundKeyBias {
  void hides_keys();
};
struct WithoutAddsToScores : BoundKeyBias {
  void adds_to_scores();
};
struct WithoutScratch : BoundKeyBias {
  struct Scratch;
};
struct WithoutKeyRanges : BoundKeyBias {
  void key_ranges() const;
};
struct WithoutMaySeeAny : BoundKeyBias {
  void may_see_any() const;
};
struct WithoutLanes : BoundKeyBias {
  void lanes() const;
};
struct ByPositionAlone : ladon::mask::BoundByPosition<ByPositionAlone> {
  static constexpr bool hides_keys = true;
  KeyRanges key_ranges(Range) const;
};
static_assert(BoundPolicy<BoundKeyBias> && BoundPolicy<BoundFirstAndLater> && BoundPolicy<WithLanes<KeyBiasLanes>>);
static_assert(!BoundPolicy<WithoutHidesKeys> && !BoundPolicy<WithoutAddsToScores> && !BoundPolicy<WithoutScratch>);
static_assert(!BoundPolicy<WithoutKeyRanges> && !BoundPolicy<WithoutMaySeeAny> && !BoundPolicy<WithoutLanes>);
static_assert(!BoundPolicy<WithLanes<LanesWithoutAdd>> && !BoundPolicy<WithLanes<LanesWithoutMaySee>>);
static_assert(!BoundPolicy<ByPositionAlone>);

std::vector<float> numbers(std::size_t count, float step) {
  std::vector<float> values(count);
  for (std::size_t i = 0; i < count; ++i) values[i] = std::sin(step * static_cast<float>(i + 1));
  return values;
}

template <Shape S, class Mask>
std::vector<float> attend(const typename ladon::Attention<S, Mask>::Options& options) {
  using Attention = ladon::Attention<S, Mask>;
  constexpr Shape shape = Attention::shape;
  const std::vector<float> q = numbers(shape.heads * shape.queries * shape.head_width, 0.7f);
  const std::vector<float> k = numbers(shape.kv_heads * shape.keys * shape.head_width, 1.3f);
  const std::vector<float> v = numbers(shape.kv_heads * shape.keys * shape.value_width, 0.3f);
  std::vector<float> out(shape.heads * shape.queries * shape.value_width, NAN);
  const auto workspace = std::make_unique<typename Attention::Workspace>();
  Attention::run(q.data(), k.data(), v.data(), out.data(), *workspace, options);
  return out;
}

template <Shape S>
void check_first_and_later() {
  constexpr std::ptrdiff_t offset = static_cast<std::ptrdiff_t>(S.keys) - static_cast<std::ptrdiff_t>(S.queries);
  std::vector<std::uint8_t> may_see(S.queries * S.keys);
  for (std::size_t i = 0; i < may_see.size(); ++i) {
    const std::size_t query = i / S.keys, key = i % S.keys;
    may_see[i] = key == 0 || static_cast<std::ptrdiff_t>(key) >= static_cast<std::ptrdiff_t>(query) + offset;
  }
  const std::vector<float> out = attend<S, FirstAndLater>({});
  const std::vector<float> expected = attend<S, ladon::mask::Boolean>({.mask = {.may_see = may_see.data()}});
  CHECK(std::memcmp(out.data(), expected.data(), out.size() * sizeof(float)) == 0);
}

template <Shape S>
void check_key_bias() {
  const std::vector<float> bias = numbers(S.keys, 0.9f);
  std::vector<float> values;
  for (std::size_t q = 0; q < S.queries; ++q) values.insert(values.end(), bias.begin(), bias.end());
  const std::vector<float> out = attend<S, KeyBias>({.mask = {.bias = bias.data()}});
  const std::vector<float> expected = attend<S, ladon::mask::Additive>({.mask = {.values = values.data()}});
  for (std::size_t i = 0; i < out.size(); ++i) CHECK(out[i] == doctest::Approx(expected[i]).epsilon(1e-5));
}

constexpr Shape one_query{.queries = 1, .keys = 33, .model = 6, .heads = 2};
constexpr Shape several_blocks{.queries = 37, .keys = 300, .model = 4, .heads = 2};

TEST_CASE("a user's mask by position") {
  check_first_and_later<one_query>();
  check_first_and_later<several_blocks>();
}

TEST_CASE("a user's mask that adds to scores") {
  check_key_bias<one_query>();
  check_key_bias<several_blocks>();
}

TEST_CASE("a user's mask beside a mask of the library") {
  using Both = decltype(FirstAndLater{} & ladon::mask::Padding{});
  std::vector<std::uint8_t> may_see(several_blocks.keys, 1);
  may_see[0] = may_see[150] = 0;
  const auto out = attend<several_blocks, Both>({.mask = {.second = {.may_see = may_see.data()}}});
  using Reversed = decltype(ladon::mask::Padding{} & FirstAndLater{});
  const auto expected = attend<several_blocks, Reversed>({.mask = {.first = {.may_see = may_see.data()}}});
  CHECK(std::memcmp(out.data(), expected.data(), out.size() * sizeof(float)) == 0);
  CHECK(out != attend<several_blocks, FirstAndLater>({}));
}

}  // namespace
