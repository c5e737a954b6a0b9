// How a finished sum leaves a matrix product: out = combine(out, transform(sum)).
#pragma once

#include <cstddef>

#include <ladon/detail/target/compiler.hpp>

namespace ladon::inline LADON_ABI::detail {

// What happens to a sum before it is stored. (An activation is a transform, too: detail/layer/activation.hpp.)
struct Unchanged {
  template <class Pack>
  LADON_INLINE constexpr Pack operator()(const Pack& sum) const noexcept {
    return sum;
  }
};
// Queries take the scale of the scores here, once, instead of every score. Keys and values take the factor 1, so that
// products of the same sizes share one function.
struct ScaledBy {
  float factor = 1.0f;
  template <class Pack>
  LADON_INLINE constexpr Pack operator()(const Pack& sum) const noexcept {
    return sum * Pack::broadcast(factor);
  }
};

// What happens to the output's earlier content: replaced, added to (a residual connection), or multiplied (a gate).
enum class Combine { replace, add, multiply };

// Stores sums into panels [panels][rows][Width] at `out`, whose panels are panel_stride floats apart.
template <std::size_t Width, class Transform = ScaledBy, Combine C = Combine::replace>
struct Epilogue {
  float* out;
  std::size_t panel_stride;
  Transform transform{};

  // Takes the sums of one pack of tokens: row `row` of panel `panel`. For a single token, Width is 1 and the pack has
  // the rows from `row` on.
  template <class Pack>
  LADON_INLINE constexpr void operator()(std::size_t panel, std::size_t row, std::size_t pack,
                                         const Pack& sum) const noexcept {
    float* const to = out + panel * panel_stride + row * Width + pack * Pack::lanes;
    if constexpr (C == Combine::replace) {
      transform(sum).store(to);
    } else if constexpr (C == Combine::add) {
      (Pack::load(to) + transform(sum)).store(to);
    } else {
      static_assert(C == Combine::multiply);
      (Pack::load(to) * transform(sum)).store(to);
    }
  }
};

}  // namespace ladon::inline LADON_ABI::detail
