// SPDX-License-Identifier: Apache-2.0
// An epilogue is the last step of a matrix product. For each finished sum, the epilogue sets out = combine(out,
// transform(sum)). For example, `transform` applies an activation, and `combine` adds the result to a residual.
// detail/vec/array.hpp defines packs.
#pragma once

#include <cstddef>

#include <ladon/detail/build/compiler.hpp>

namespace LADON_NAMESPACE::detail {

// A transform is a function that the epilogue applies to a sum before the sum is stored. The transform Unchanged leaves
// the sum unchanged. Activations are also transforms (detail/layer/activation.hpp).
struct Unchanged {
  template <class Pack>
  LADON_INLINE constexpr Pack operator()(const Pack& sum) const noexcept {
    return sum;
  }
};
// A transform that multiplies the sum by `factor`. For queries, `factor` is the scale of the scores, so that the scores
// need no scaling later. For keys and values, `factor` is 1. The projections of queries, keys and values all use this
// type, so projections of equal sizes compile to one function. Exception: keys and values use Unchanged if the queries
// of all heads are projected in one product (MultiHeadSteps::joins_queries).
struct ScaledBy {
  float factor = 1.0f;
  template <class Pack>
  LADON_INLINE constexpr Pack operator()(const Pack& sum) const noexcept {
    return sum * Pack::broadcast(factor);
  }
};

// How the transformed sum (the result) changes `out`:
//     replace    the result replaces the old value
//     add        the result is added to the old value (a residual connection)
//     multiply   the old value is multiplied by the result (a gate)
enum class Combine { replace, add, multiply };

// Stores sums into panels [panels][rows][Width] at `out` (detail/panel/panels.hpp). Each panel begins `panel_stride`
// floats after the previous panel.
template <std::size_t Width, class Transform = ScaledBy, Combine C = Combine::replace>
struct Epilogue {
  float* out;
  std::size_t panel_stride;
  Transform transform{};

  // Stores the sums of row `row` for one pack of tokens: pack number `pack` of panel `panel`. If there is a single
  // token, Width is 1, and lane i of `sum` belongs to row `row` + i.
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

// Splits an epilogue into a factor and an epilogue without this factor. Only two kernels for int8 weights split the
// epilogue: the product of several tokens on Helium, and the product on Cortex-M0+ (detail/cortex_m). These
// kernels multiply the scale and the bias of each row by the factor, which is cheaper than multiplying each result.
// Deterministic builds do not split the epilogue, because the order of the multiplications changes the rounding.
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
