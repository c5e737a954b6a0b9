// SPDX-License-Identifier: Apache-2.0
// Attention with linear biases, ALiBi (arXiv 2108.12409).
#pragma once

#include <cstddef>

#include <ladon/detail/mask/alibi.hpp>
#include <ladon/detail/mask/placement.hpp>
#include <ladon/mask/offset.hpp>
#include <ladon/shape.hpp>
#include <ladon/views.hpp>

namespace LADON_NAMESPACE::mask {

// Adds slope * (j - (i + `offset`)) to the score of query i and key j, in natural units (attention_map.hpp). i +
// `offset` is the position of query i among the keys. ALiBi hides no key.
//
// `slopes` [heads] holds one slope for each head. If `slopes` is a null pointer, which is the default, the slopes are
// those of the paper: head h has the slope 2^(-8 (h + 1) / heads) if `heads` is a power of two. detail/mask/alibi.hpp
// has the slopes for other numbers of heads.
struct Alibi {
  template <Shape S>
  struct Data {
    VectorView<const float, S.heads> slopes;
    std::ptrdiff_t offset = default_offset;
  };

  template <Shape S>
  static constexpr detail::BoundAlibi bind(const detail::Placement& placement, const Data<S>& data) noexcept {
    const float* const slopes = data.slopes.data;
    return {slopes == nullptr ? detail::default_slopes<S.heads>.data() : slopes,
            detail::resolve_offset(placement, data.offset), placement.lengths.keys};
  }
};

}  // namespace LADON_NAMESPACE::mask
