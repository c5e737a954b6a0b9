// Feed-forward of one panel with its residual: out += W2 f(W1 in + b1) + b2. A gated one (Shazeer, "GLU Variants
// Improve Transformer", arXiv 2002.05202) multiplies before W2: out += W2 (f(Wg in + bg) * (W1 in + b1)) + b2.
//
//     in, out  [Model][Width]     hidden  [Hidden][Width], scratch
#pragma once

#include <cstddef>

#include <ladon/kernel/project.hpp>

namespace ladon::inline LADON_ABI::kernel {

template <class Simd, Tiling T, std::size_t Packs, std::size_t Model, std::size_t Hidden, Activation F, class Rows1,
          class Rows2>
constexpr void feed_forward(const Rows1& w1, const Rows2& w2, const float* in, float* hidden, float* out) noexcept {
  project<Simd, T, Packs, Hidden, Model>(w1, in, 1, StoreActivated<T.width(), F>{hidden});
  project<Simd, T, Packs, Model, Hidden>(w2, hidden, 1, AddTo<T.width()>{out});
}

template <class Simd, Tiling T, std::size_t Packs, std::size_t Model, std::size_t Hidden, Activation F, class Rows1,
          class Rows2>
constexpr void gated_feed_forward(const Rows1& gate, const Rows1& w1, const Rows2& w2, const float* in, float* hidden,
                                  float* out) noexcept {
  project<Simd, T, Packs, Hidden, Model>(gate, in, 1, StoreActivated<T.width(), F>{hidden});
  project<Simd, T, Packs, Hidden, Model>(w1, in, 1, MultiplyInto<T.width()>{hidden});
  project<Simd, T, Packs, Model, Hidden>(w2, hidden, 1, AddTo<T.width()>{out});
}

}  // namespace ladon::inline LADON_ABI::kernel
