// SPDX-License-Identifier: Apache-2.0
// A mask with one bit for each pair of query and key.
#pragma once

#include <cstdint>

#include <ladon/detail/mask/bits.hpp>
#include <ladon/detail/mask/placement.hpp>
#include <ladon/shape.hpp>
#include <ladon/views.hpp>

namespace LADON_NAMESPACE::mask {

// `bits` [queries][ceil(keys / 32)] is an array of 32-bit words. All heads use the same array. Each query has one row
// of the array. Bit k % 32 of word k / 32 in the row is 1 if the query may see key k. If `bits` is a null pointer,
// which is the default, no key is hidden. For each panel of queries (detail/panel/panels.hpp), the kernels skip the
// blocks of keys that are hidden from all queries of the panel.
struct Bits {
  template <Shape S>
  struct Data {
    MatrixView<const std::uint32_t, S.queries, (S.keys + 31) / 32> bits;
  };

  template <Shape S>
  static constexpr auto bind(const detail::Placement& placement, const Data<S>& data) noexcept {
    using Rows = detail::BitRows<(S.keys + 31) / 32>;
    return detail::BoundPairs<Rows>{{data.bits.data, placement.lengths.keys}};
  }
};

}  // namespace LADON_NAMESPACE::mask
