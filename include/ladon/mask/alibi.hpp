// Attention with linear biases, ALiBi (arXiv 2108.12409).
#pragma once

#include <cstddef>

#include <ladon/detail/mask/alibi.hpp>
#include <ladon/detail/mask/placement.hpp>
#include <ladon/mask/offset.hpp>
#include <ladon/shape.hpp>
#include <ladon/views.hpp>

namespace ladon::inline LADON_ABI::mask {

// slope * (key - position) joins each score, in the units of the scores; query i has position i + offset. ALiBi hides
// no key. slopes [heads] holds a slope for each head. A null pointer, the default, stands for the slopes of the paper:
// 2^(-8 (h + 1) / heads) for head h. If heads is no power of two, the slopes follow the authors' code.
struct Alibi {
  template <Shape S>
  struct Data {
    Vector<const float, S.heads> slopes;
    std::ptrdiff_t offset = default_offset;
  };

  template <Shape S>
  static constexpr detail::BoundAlibi bind(const detail::Placement& placement, const Data<S>& data) noexcept {
    const float* const slopes = data.slopes.data;
    return {slopes == nullptr ? detail::default_slopes<S.heads>.data() : slopes,
            detail::resolve_offset(placement, data.offset), placement.lengths.keys};
  }
};

}  // namespace ladon::inline LADON_ABI::mask
