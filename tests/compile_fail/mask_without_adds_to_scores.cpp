// message: std::bool_constant<BoundMask::adds_to_scores>
#include <ladon/ladon.hpp>

using ladon::Range, ladon::mask::KeyRanges, ladon::mask::NoScratch, ladon::mask::Placement, ladon::mask::ScoreBlock;

template <class Pack>
struct Lanes {
  typename Pack::Mask may_see(std::size_t, std::size_t) const { return Pack::every_lane(true); }
  Pack add(std::size_t, std::size_t, const Pack& score) const { return score; }
};
struct BoundIncomplete {
  static constexpr bool hides_keys = false;
  static constexpr bool ends_within_panels = false;
  template <std::size_t KeyWidth, std::size_t Width>
  using Scratch = NoScratch;
  std::size_t keys;

  bool may_see_any(Range, Range) const { return true; }
  KeyRanges key_ranges(Range) const { return {{0, keys}, {0, keys}}; }
  template <class Pack, std::size_t Width>
  Lanes<Pack> lanes(const ScoreBlock&, NoScratch&) const {
    return {};
  }
};
struct Incomplete {
  template <ladon::Shape S>
  struct Data {};
  template <ladon::Shape S>
  static BoundIncomplete bind(const Placement& placement, const Data<S>&) {
    return {placement.lengths.keys};
  }
};

using Attention = ladon::Attention<ladon::Shape{.queries = 3, .model = 6, .heads = 2}, Incomplete>;
