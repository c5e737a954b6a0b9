// A number for each pair of query and key, shared by all heads or for each head.
#pragma once

#include <cstddef>
#include <type_traits>

#include <ladon/checks.hpp>
#include <ladon/detail/mask/additive.hpp>
#include <ladon/detail/mask/placement.hpp>
#include <ladon/shape.hpp>
#include <ladon/views.hpp>

namespace ladon::inline LADON_ABI::mask {

// values [queries][keys] holds a number for each pair, and [heads][queries][keys] where PerHead is true. The numbers
// join the scores, in the units of the scores: scale * q . k + value. Only -inf hides a key; +inf counts as the largest
// float. A null pointer, the default, adds nothing.
//
// With .keys = n the rows have n columns, and keys from n on are hidden, as in ONNX's Attention since opset 24. The
// default is the shape's number of keys. Precondition: n is at most the shape's keys (checked: checks.hpp).
template <bool PerHead>
struct AdditiveValues {
  template <Shape S>
  struct Data {
    std::conditional_t<PerHead, TensorView<const float, S.heads, S.queries, S.keys>,
                       MatrixView<const float, S.queries, S.keys>>
        values;
    std::size_t keys = all;
  };

  template <Shape S>
  static constexpr detail::BoundAdditive<PerHead> bind(const detail::Placement& placement,
                                                       const Data<S>& data) noexcept {
    LADON_EXPECTS(data.keys == all || data.keys <= S.keys, "ladon: a mask has no more columns than the shape has keys");
    const std::size_t columns = data.keys == all ? S.keys : data.keys;
    return {data.values.data, S.queries, columns, placement.lengths.keys < columns ? placement.lengths.keys : columns};
  }
};
struct Additive : AdditiveValues<false> {};
struct AdditivePerHead : AdditiveValues<true> {};

}  // namespace ladon::inline LADON_ABI::mask
