// Feed-forward of one panel with its residual: out += W2 f(W1 in + b1) + b2. A gated one (Shazeer, "GLU Variants
// Improve Transformer", arXiv 2002.05202) multiplies before W2: out += W2 (f(Wg in + bg) * (W1 in + b1)) + b2.
//
//     in, out  [Model][Width]     hidden  [Hidden][Width], scratch
#pragma once

#include <cstddef>

#include <ladon/kernel/project.hpp>

namespace ladon::inline LADON_ABI::kernel {

template <class Pack, std::size_t MaxRows, std::size_t Packs, std::size_t Width, std::size_t Model, std::size_t Hidden,
          Activation F, class Rows1, class Rows2>
constexpr void feed_forward(const Rows1& w1, const Rows2& w2, const float* in, float* hidden, float* out) noexcept {
  project<Pack, MaxRows, Packs, Width, Hidden, Model>(w1, in, 1, StoreActivated<Width, F>{hidden});
  project<Pack, MaxRows, Packs, Width, Model, Hidden>(w2, hidden, 1, AddTo<Width>{out});
}

template <class Pack, std::size_t MaxRows, std::size_t Packs, std::size_t Width, std::size_t Model, std::size_t Hidden,
          Activation F, class Rows1, class Rows2>
constexpr void gated_feed_forward(const Rows1& gate, const Rows1& w1, const Rows2& w2, const float* in, float* hidden,
                                  float* out) noexcept {
  project<Pack, MaxRows, Packs, Width, Hidden, Model>(gate, in, 1, StoreActivated<Width, F>{hidden});
  project<Pack, MaxRows, Packs, Width, Hidden, Model>(w1, in, 1, MultiplyInto<Width>{hidden});
  project<Pack, MaxRows, Packs, Width, Model, Hidden>(w2, hidden, 1, AddTo<Width>{out});
}

}  // namespace ladon::inline LADON_ABI::kernel
