// SPDX-License-Identifier: Apache-2.0
// The last step of a matrix product: out = combine(out, transform(sum)), for example an activation and a residual.
#pragma once

#include <cstddef>
#include <type_traits>

#include <ladon/detail/config/compiler.hpp>

namespace LADON_NAMESPACE::detail {

struct Unchanged {
  template <class Pack>
  LADON_INLINE constexpr Pack operator()(const Pack& sum) const noexcept {
    return sum;
  }
};
struct ScaledBy {
  float factor = 1.0f;
  template <class Pack>
  LADON_INLINE constexpr Pack operator()(const Pack& sum) const noexcept {
    return sum * Pack::broadcast(factor);
  }
};

// How results change `out`: `add` is for residual connections, `multiply` for gates.
enum class Combine { replace, add, multiply };

// Stores sums into panels [panels][rows][Width]. Each panel begins `panel_stride` floats after the previous one.
template <std::size_t Width, class Transform = ScaledBy, Combine C = Combine::replace>
struct Epilogue {
  float* out;
  std::size_t panel_stride;
  Transform transform{};

  LADON_INLINE constexpr Epilogue of_tile(std::size_t panel, std::size_t row) const noexcept {
    return {out + panel * panel_stride + row * Width, 0, transform};
  }
  LADON_INLINE constexpr Epilogue of_rows(std::size_t row) const noexcept {
    return {out + row * Width, panel_stride, transform};
  }
  // Whether a tile stores its sums first, and transform_rows then transforms them in memory.
  static constexpr bool transforms_later = requires { requires Transform::long_code; };
  // Leaves out a transform that transform_rows applies later. Otherwise returns a reference, because g++ 12 would copy
  // the epilogue through memory (Helium).
  LADON_INLINE constexpr decltype(auto) without_later_transform() const noexcept {
    if constexpr (transforms_later) {
      static_assert(C == Combine::replace);
      return Epilogue<Width, Unchanged>{out, panel_stride};
    } else {
      return (*this);
    }
  }
  // For a single token, Width is 1, and lane i belongs to row `row` + i.
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

// Stores keys, values and outputs. With projections_share_code, or for a single token, multiplies them by 1, so that
// they share a function with queries, which have another factor. This takes 1 to 2% more time (32 tokens, Zen 5).
template <std::size_t Width>
using StoreProjected =
    Epilogue<Width, std::conditional_t<target::Current::projections_share_code || Width == 1, ScaledBy, Unchanged>>;

template <class Epilogue>
inline constexpr bool only_stores = false;
template <std::size_t Width>
inline constexpr bool only_stores<Epilogue<Width, Unchanged, Combine::replace>> = true;

// Applies `transform` to the first Packs packs of each row of `rows` [count][Width]. Not inlined, because the constants
// of GELU would take the registers of the tile that computes the rows.
template <class Pack, std::size_t Packs, std::size_t Width, class Transform>
LADON_NOINLINE constexpr void transform_rows(Transform transform, float* rows, std::size_t count) noexcept {
  for (std::size_t r = 0; r < count; ++r) {
    LADON_UNROLLED_FOR(v, Packs) {
      float* const at = rows + r * Width + v * Pack::lanes;
      transform(Pack::load(at)).store(at);
    }
  }
}

// Takes the factor out of an epilogue. Kernels for Helium and Cortex-M0+ multiply the scale and bias of a row by the
// factor. Deterministic builds leave the factor in the epilogue, because rounding depends on what it multiplies.
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
