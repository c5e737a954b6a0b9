// The combination of two masks. A nested Both combines any number of masks.
#pragma once

#include <type_traits>

#include <ladon/detail/mask/both.hpp>
#include <ladon/detail/mask/placement.hpp>
#include <ladon/mask/policy.hpp>
#include <ladon/shape.hpp>

namespace ladon::inline LADON_ABI::mask {

// A query sees a key if both masks show the key. Both masks may add to the scores. `first` holds the data of mask A,
// and `second` holds the data of mask B.
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

// Returns an object of type Both<A, B>. The type of two masks can then be written as decltype(Causal{} & Padding{}).
template <Policy A, Policy B>
constexpr Both<A, B> operator&(A, B) noexcept {
  return {};
}

}  // namespace ladon::inline LADON_ABI::mask
