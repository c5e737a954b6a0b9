// The last step of a matrix product. It stores each finished sum: out = combine(out, transform(sum)).
#pragma once

#include <cstddef>

#include <ladon/detail/target/compiler.hpp>

namespace ladon::inline LADON_ABI::detail {

// A transform that leaves the sum unchanged. (A transform is applied to a sum before it is stored. Activations are
// transforms, too: detail/layer/activation.hpp.)
struct Unchanged {
  template <class Pack>
  LADON_INLINE constexpr Pack operator()(const Pack& sum) const noexcept {
    return sum;
  }
};
// A transform that multiplies the sum by `factor`. Queries are multiplied by the scale of the scores here, so that the
// scores need no scaling. Keys and values have the factor 1, so that products of the same sizes share one function.
struct ScaledBy {
  float factor = 1.0f;
  template <class Pack>
  LADON_INLINE constexpr Pack operator()(const Pack& sum) const noexcept {
    return sum * Pack::broadcast(factor);
  }
};

// How a result changes `out`: it replaces the old value, is added to it (a residual connection), or multiplies it (a
// gate).
enum class Combine { replace, add, multiply };

// Stores sums into panels [panels][rows][Width] at `out`. The panels are `panel_stride` floats apart.
template <std::size_t Width, class Transform = ScaledBy, Combine C = Combine::replace>
struct Epilogue {
  float* out;
  std::size_t panel_stride;
  Transform transform{};

  // Stores the sums of row `row` for the tokens of pack `pack` of panel `panel`. For a single token, Width is 1, and
  // `sum` holds the rows from `row` on instead, one in each lane.
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
