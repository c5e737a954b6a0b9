// SPDX-License-Identifier: Apache-2.0
// Masks with one byte for each pair of query and key. In Boolean, all heads use the same bytes. In BooleanPerHead, each
// head has separate bytes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>

#include <ladon/checks.hpp>
#include <ladon/detail/mask/boolean.hpp>
#include <ladon/detail/mask/placement.hpp>
#include <ladon/shape.hpp>
#include <ladon/views.hpp>

namespace LADON_NAMESPACE::mask {

// `may_see` is [queries][keys], or [heads][queries][keys] if PerHead is true. The byte 0 hides the key from the query.
// Any other byte shows the key. If `may_see` is a null pointer, which is the default, the bytes count as 1.
//
// `may_see` has `keys` columns, one for each of the first `keys` keys. The default of `keys` is the shape's number of
// keys. If `keys` is smaller, all further keys are hidden, even if `may_see` is null. ONNX's Attention has this rule
// since opset 24. Precondition: `keys` is at most the shape's number of keys (checks.hpp).
template <bool PerHead>
struct BooleanBytes {
  template <Shape S>
  struct Data {
    std::conditional_t<PerHead, TensorView<const std::uint8_t, S.heads, S.queries, S.keys>,
                       MatrixView<const std::uint8_t, S.queries, S.keys>>
        may_see;
    std::size_t keys = all;
    LADON_CALLER_MEMBER
  };

  template <Shape S>
  static constexpr auto bind(const detail::Placement& placement, const Data<S>& data) noexcept {
    LADON_EXPECTS(data.keys == all || data.keys <= S.keys, "ladon: a mask has no more columns than the shape has keys",
                  detail::caller_of(data), {{"options.mask.keys", data.keys}, {"shape.keys", S.keys}});
    using Bound = detail::BoundPairs<detail::ByteRows<PerHead>>;
    return Bound{{data.may_see.data, S.queries, data.keys == all ? S.keys : data.keys, placement.lengths.keys}};
  }
};
struct Boolean : BooleanBytes<false> {};
struct BooleanPerHead : BooleanBytes<true> {};

}  // namespace LADON_NAMESPACE::mask
