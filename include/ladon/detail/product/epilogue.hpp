// SPDX-License-Identifier: Apache-2.0
// The last step of a matrix product: out = combine(out, transform(sum)). A transform is, for example, an activation. A
// combination is, for example, a residual connection.
#pragma once

#include <cstddef>

#include <ladon/detail/build/compiler.hpp>

namespace LADON_NAMESPACE::detail {

// The transform that leaves a sum unchanged.
struct Unchanged {
  template <class Pack>
  LADON_INLINE constexpr Pack operator()(const Pack& sum) const noexcept {
    return sum;
  }
};
// For queries, `factor` is the scale of the scores. For keys and values, it is 1: the three projections then share one
// function.
struct ScaledBy {
  float factor = 1.0f;
  template <class Pack>
  LADON_INLINE constexpr Pack operator()(const Pack& sum) const noexcept {
    return sum * Pack::broadcast(factor);
  }
};

// How the result changes `out`: it replaces the old value, is added (a residual connection), or is multiplied (a gate).
enum class Combine { replace, add, multiply };

// Stores sums into panels [panels][rows][Width]. Each panel begins `panel_stride` floats after the previous one.
template <std::size_t Width, class Transform = ScaledBy, Combine C = Combine::replace>
struct Epilogue {
  float* out;
  std::size_t panel_stride;
  Transform transform{};

  // Stores the sums of row `row` for pack `pack` of panel `panel`. For a single token, Width is 1, and lane i belongs
  // to row `row` + i.
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

// Whether the epilogue stores the sums unchanged.
template <class Epilogue>
inline constexpr bool only_stores = false;
template <std::size_t Width>
inline constexpr bool only_stores<Epilogue<Width, Unchanged, Combine::replace>> = true;

// Takes the factor out of an epilogue. Kernels for Helium and Cortex-M0+ multiply the scale and the bias of a row by
// this factor instead of each result. Deterministic builds keep the factor, because its place changes the rounding.
template <class Epilogue>
struct SplitEpilogue {
  Epilogue epilogue;
  static constexpr float factor = 1;
};
#if !LADON_DETERMINISTIC
template <std::size_t Width, Combine C>
struct SplitEpilogue<Epilogue<Width, ScaledBy, C>> {
  Epilogue<Width, Unchanged, C> epilogue;
  float factor;
  LADON_INLINE explicit SplitEpilogue(const Epilogue<Width, ScaledBy, C>& whole) noexcept
      : epilogue{whole.out, whole.panel_stride}, factor(whole.transform.factor) {}
};
#endif
template <class Epilogue>
SplitEpilogue(Epilogue) -> SplitEpilogue<Epilogue>;

}  // namespace LADON_NAMESPACE::detail
