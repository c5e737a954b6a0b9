// SPDX-License-Identifier: Apache-2.0
// Windows: each query sees only the keys near the position of the query.
#pragma once

#include <cstddef>

#include <ladon/detail/mask/placement.hpp>
#include <ladon/detail/mask/window.hpp>
#include <ladon/mask/offset.hpp>
#include <ladon/shape.hpp>

namespace LADON_NAMESPACE::mask {

// Query i sees the keys from i + `offset` - Left to i + `offset` + Right. If Left or Right is ladon::all, the window
// has no limit on that side. `offset` may be negative. If Left is limited and Window<Left> is the only mask, a
// key/value cache keeps only the latest tokens (key_value_cache.hpp).
template <std::size_t Left, std::size_t Right = 0>
struct Window {
  template <Shape S>
  struct Data {
    std::ptrdiff_t offset = default_offset;
  };

  template <Shape S>
  static constexpr auto bind(const detail::Placement& placement, const Data<S>& data) noexcept {
    static_assert(Left == all || Left < S.keys + S.queries,
                  "ladon: this window is wider to the left than keys and queries together; say ladon::all");
    static_assert(Right == all || Right < S.keys + S.queries,
                  "ladon: this window is wider to the right than keys and queries together; say ladon::all");
    return detail::BoundWindow<Left, Right>(detail::resolve_offset(placement, data.offset), placement.lengths.keys);
  }
};

// Like Window<Left, Right>, but the offset is a template argument.
template <std::size_t Left, std::size_t Right, std::ptrdiff_t Offset>
struct WindowAt {
  template <Shape S>
  struct Data {};

  template <Shape S>
  static constexpr auto bind(const detail::Placement& placement, const Data<S>&) noexcept {
    return Window<Left, Right>::template bind<S>(placement, {.offset = Offset});
  }
};

}  // namespace LADON_NAMESPACE::mask
