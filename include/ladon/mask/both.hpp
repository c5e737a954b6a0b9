// SPDX-License-Identifier: Apache-2.0
// The combination of two masks. More than two masks are combined by nesting, for example Both<Both<A, B>, C>.
#pragma once

#include <type_traits>

#include <ladon/detail/mask/both.hpp>
#include <ladon/detail/mask/placement.hpp>
#include <ladon/mask/policy.hpp>
#include <ladon/shape.hpp>

namespace LADON_NAMESPACE::mask {

// A query sees a key if both masks show the key. If both masks add to the scores, both numbers are added. `first` holds
// the data of mask A, and `second` holds the data of mask B.
template <class A, class B>
struct Both {
  template <Shape S>
  struct Data {
    typename A::template Data<S> first{};
    typename B::template Data<S> second{};
  };

  template <Shape S>
  static constexpr auto bind(const detail::Placement& placement, const Data<S>& data) noexcept {
    const auto first = A::template bind<S>(placement, data.first);
    const auto second = B::template bind<S>(placement, data.second);
    return detail::BoundBoth<std::remove_const_t<decltype(first)>, std::remove_const_t<decltype(second)>>{first,
                                                                                                          second};
  }
};

// Returns an object of type Both<A, B>. The type of the combined mask can therefore be written as decltype(Causal{} &
// Padding{}).
template <Policy A, Policy B>
constexpr Both<A, B> operator&(A, B) noexcept {
  return {};
}

}  // namespace LADON_NAMESPACE::mask
