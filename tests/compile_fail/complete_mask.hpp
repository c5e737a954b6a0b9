// A user's mask with all members that Ladon requires of a mask. Each file mask_without_*.cpp derives a mask that hides
// one of these members, and the derived mask must not compile. control.cpp tests that the complete mask compiles.
#pragma once

#include <ladon/ladon.hpp>

template <class Pack>
struct CompleteLanes {
  typename Pack::Mask may_see(std::size_t, std::size_t) const { return Pack::every_lane(true); }
  Pack add(std::size_t, std::size_t, const Pack& score) const { return score; }
};

template <template <class> class Lanes = CompleteLanes>
struct BoundComplete {
  static constexpr bool hides_keys = false;
  static constexpr bool adds_to_scores = false;
  template <std::size_t KeyWidth, std::size_t Width>
  using Scratch = ladon::mask::NoScratch;
  std::size_t keys;

  ladon::mask::KeyRanges key_ranges(ladon::Range) const { return {{0, keys}, {0, keys}}; }
  bool may_see_any(ladon::Range, ladon::Range) const { return true; }
  template <class Pack, std::size_t Width>
  Lanes<Pack> lanes(const ladon::mask::ScoreBlock&, ladon::mask::NoScratch&) const {
    return {};
  }
};

template <class Bound>
struct MaskOf {
  template <ladon::Shape S>
  struct Data {};
  template <ladon::Shape S>
  static Bound bind_to(const ladon::mask::Placement& placement, const Data<S>&) {
    return {placement.lengths.keys};
  }
};

template <class Bound>
using MaskedAttention = ladon::Attention<ladon::Shape{.queries = 3, .model = 6, .heads = 2}, MaskOf<Bound>>;
