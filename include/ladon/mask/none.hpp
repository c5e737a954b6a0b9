// SPDX-License-Identifier: Apache-2.0
// No mask: every query sees every active key.
#pragma once

#include <ladon/detail/mask/none.hpp>
#include <ladon/detail/mask/placement.hpp>
#include <ladon/shape.hpp>

namespace LADON_NAMESPACE::mask {

struct None {
  template <Shape S>
  struct Data {};

  template <Shape S>
  static constexpr auto bind(const detail::Placement& placement, const Data<S>&) noexcept {
    return detail::BoundNone(placement.lengths.keys);
  }
};

}  // namespace LADON_NAMESPACE::mask
