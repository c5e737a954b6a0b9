// A mask of keys that is the same for every query.
#pragma once

#include <cstddef>
#include <cstdint>

#include <ladon/mask/policy.hpp>

namespace ladon::inline LADON_ABI::mask {

// One byte a key, may_see [keys]: 0 hides it from every query. A null pointer hides none. Hiding a key does not skip
// that token as a query. Where only the end is padding, an active length (RunOptions::keys) is faster.
struct Padding {
  template <Shape S>
  struct Data {
    Vector<const std::uint8_t, S.keys> may_see;
  };
  struct Bound : PositionBound<Bound> {
    static constexpr bool hides_keys = true;
    const std::uint8_t* shown;
    VisibleKeys keys;
    constexpr Bound(const std::uint8_t* bytes, const VisibleKeys& visible) noexcept : shown(bytes), keys(visible) {}
    constexpr VisibleKeys panel(Range) const noexcept { return keys; }
    template <class Pack>
    LADON_INLINE constexpr typename Pack::Mask may_see(const Pack&, std::size_t key) const noexcept {
      return Pack::every_lane(shown == nullptr || shown[key] != 0);
    }
  };
  template <Shape S>
  static constexpr Bound bind(const Placement& run, const Data<S>& data) noexcept {
    const std::size_t keys = run.lengths.keys;
    const std::uint8_t* const shown = data.may_see.data;
    if (shown == nullptr) return {shown, {{0, keys}, {0, keys}}};
    std::size_t first = 0, last = keys;
    while (first < last && shown[first] == 0) ++first;
    while (last > first && shown[last - 1] == 0) --last;
    std::size_t hole = first;
    while (hole < last && shown[hole] != 0) ++hole;
    return {shown, {{first, last}, {first, hole}}};
  }
};

}  // namespace ladon::inline LADON_ABI::mask
