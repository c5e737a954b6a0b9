// A mask of keys that is the same for every query and every head.
#pragma once

#include <cstddef>
#include <cstdint>

#include <ladon/detail/mask/padding.hpp>
#include <ladon/detail/mask/placement.hpp>
#include <ladon/shape.hpp>
#include <ladon/views.hpp>

namespace ladon::inline LADON_ABI::mask {

// may_see [keys] holds one byte for each key of the shape. 0 hides the key from every query; any other byte shows the
// key. A null pointer, the default, hides no key. Bytes of inactive keys are not read. A hidden key's token still takes
// part as a query. If only the last tokens are padding, an active length (RunOptions::keys) is faster.
struct Padding {
  template <Shape S>
  struct Data {
    VectorView<const std::uint8_t, S.keys> may_see;
  };

  template <Shape S>
  static constexpr detail::BoundPadding bind(const detail::Placement& placement, const Data<S>& data) noexcept {
    const std::size_t keys = placement.lengths.keys;
    const std::uint8_t* const bytes = data.may_see.data;
    if (bytes == nullptr) return {bytes, {{0, keys}, {0, keys}}};
    // Kernels skip hidden keys before the first visible key and after the last, and compare keys from the first hole
    // on.
    std::size_t first = 0, end = keys;
    while (first < end && bytes[first] == 0) ++first;
    while (end > first && bytes[end - 1] == 0) --end;
    std::size_t hole = first;
    while (hole < end && bytes[hole] != 0) ++hole;
    return {bytes, {{first, end}, {first, hole}}};
  }
};

}  // namespace ladon::inline LADON_ABI::mask
