// SPDX-License-Identifier: Apache-2.0
// Masks that add a number to each score. Additive has one number for each pair of query and key. AdditivePerHead has
// separate numbers for each head.
#pragma once

#include <cstddef>
#include <type_traits>

#include <ladon/checks.hpp>
#include <ladon/detail/mask/additive.hpp>
#include <ladon/detail/mask/placement.hpp>
#include <ladon/shape.hpp>
#include <ladon/views.hpp>

namespace LADON_NAMESPACE::mask {

// Adds an element of `values` to each score: score = scale * q . k + value. Scores and values are in natural units
// (attention_map.hpp). `values` is [queries][keys], or [heads][queries][keys] if PerHead is true. The value -inf hides
// the key from the query. The value +inf is replaced by the largest finite float. If `values` is a null pointer, which
// is the default, the mask adds nothing to the scores.
//
// `values` has `keys` columns, one for each of the first `keys` keys. The default of `keys` is the shape's number of
// keys. If `keys` is smaller, all further keys are hidden, even if `values` is null. ONNX's Attention has this rule
// since opset 24. Precondition: `keys` is at most the shape's number of keys (checks.hpp).
template <bool PerHead>
struct AdditiveValues {
  template <Shape S>
  struct Data {
    std::conditional_t<PerHead, TensorView<const float, S.heads, S.queries, S.keys>,
                       MatrixView<const float, S.queries, S.keys>>
        values;
    std::size_t keys = all;
    LADON_CALLER_MEMBER
  };

  template <Shape S>
  static constexpr detail::BoundAdditive<PerHead> bind(const detail::Placement& placement,
                                                       const Data<S>& data) noexcept {
    LADON_EXPECTS(data.keys == all || data.keys <= S.keys, "ladon: a mask has no more columns than the shape has keys",
                  detail::caller_of(data), {{"options.mask.keys", data.keys}, {"shape.keys", S.keys}});
    const std::size_t columns = data.keys == all ? S.keys : data.keys;
    return {data.values.data, S.queries, columns, placement.lengths.keys < columns ? placement.lengths.keys : columns};
  }
};
struct Additive : AdditiveValues<false> {};
struct AdditivePerHead : AdditiveValues<true> {};

}  // namespace LADON_NAMESPACE::mask
