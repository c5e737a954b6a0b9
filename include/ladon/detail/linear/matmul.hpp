// Project: out panel = finish(W * in panel + bias), for some rows of W and any number of panels.
//
//     W     [rows][inner], read where it lies in the checkpoint: WeightRows says with which strides, and whether there
//           are biases
//     in    [panels][inner][width]
//     finish(panel, row, pack, sum) stores: one of the small types below
//
// Rows outside, panels inside: the few rows of W that a tile needs stay in the nearest cache while every panel passes.
#pragma once

#include <cstddef>
#include <type_traits>

#include <ladon/detail/layer/activation.hpp>
#include <ladon/detail/linear/matrix_vector.hpp>
#include <ladon/detail/linear/micro_kernel.hpp>
#include <ladon/detail/linear/micro_kernel_folded.hpp>
#include <ladon/detail/memory/weight_rows.hpp>
#include <ladon/detail/target/tiling.hpp>
#include <ladon/views.hpp>

namespace ladon::inline LADON_ABI::detail {

// The biases of the rows from `first` on, which a tile's sums start at; without any they start at 0.
template <std::size_t RowStride, std::size_t InnerStride>
LADON_INLINE constexpr const float* bias_of(const WeightRows<RowStride, InnerStride, Bias::with>& w,
                                            std::size_t first) noexcept {
  return read_here(w.bias + first);
}
struct NoBias {
  constexpr float operator[](std::size_t) const noexcept { return 0.0f; }
};
template <std::size_t RowStride, std::size_t InnerStride>
LADON_INLINE constexpr NoBias bias_of(const WeightRows<RowStride, InnerStride, Bias::without>&, std::size_t) noexcept {
  return {};
}

// Whether rows that come soon are asked for while the last panel passes. Where weights of 256 features or more
// lie in a cache that is far, a tile would wait for each of its rows (MiniLM, whose layers have 7.1 MB each, on a
// Cascade Lake with prefetching: 0.75 of the time for 8 tokens, 0.80 for 32, 0.82 for 128); narrower ones are near.
template <std::size_t RowStride, std::size_t InnerStride>
inline constexpr bool prefetches_rows = has_prefetch && RowStride * InnerStride >= 256;

// How many panels are projected at a time: all of them, as long as the second cache holds them (of 1 MB on today's
// servers, with all else that is in it); otherwise as many as are a quarter of it, and at least four, so that weights
// from farther away are not read too often. (Of all panels for each tile of rows, at (1024,512,8), a Cascade Lake gets
// 69% of its peak, of four 74%.)
template <class Simd, Tiling T, std::size_t Tokens, std::size_t Inner>
inline constexpr std::size_t panels_at_a_time = [] {
  constexpr std::size_t panel = Inner * T.width() * sizeof(float);
  constexpr bool near = T.panels(Tokens) * panel <= 512 * 1024;
  if (near || Simd::lanes == 1) return all;
  return panel > 64 * 1024 ? std::size_t{4} : 256 * 1024 / panel;
}();

// Whether these weights were read for other panels just before, and are near.
enum class Reading : bool { first, again };

// How many steps of the inner index stand side by side in a register that the tokens of a panel would not fill; 1 where
// they fill it. Sums cross the lanes then, so not where all targets shall give the same bits. (Zen 5, whole attention,
// share of peak: AVX-512 (8,256,8) 40 -> 74%, (8,64,4) 42 -> 69, (8,16,2) 32 -> 38, (4,256,8) 21 -> 53, encoder layer
// (8,384,12) 43 -> 78; AVX2 (4,256,8) 42 -> 74. Shorter sums were not tried.)
template <class Simd, Tiling T, std::size_t Inner, std::size_t InnerStride>
inline constexpr std::size_t fold_of = [] {
  if constexpr (!LADON_DETERMINISTIC && InnerStride == 1 && Inner >= 16 && T.packs == 1 && T.lanes > 1 &&
                T.lanes < Simd::lanes) {
    constexpr std::size_t fold = Simd::lanes / T.lanes;
    if (simd::Fold<typename Simd::template Pack<Simd::lanes>, fold>::exists) return fold;
  }
  return std::size_t{1};
}();

// A product of so many weights is a function by itself even where a tile has 32 registers (but of a feed-forward
// network that goes on from earlier sums): inlined into a caller of many loops, g++ keeps one of a tile's sums in
// memory, here and there (Zen 5, AVX-512: (256,1024,8) causal 68 -> 94% of peak; from 4096 weights on, (64,128,4) 93.1
// -> 92.0, (128,384,12) causal 93.3 -> 92.8).
#if defined(LADON_KERNELS_INLINED)
inline constexpr std::size_t worth_a_call = 32768;
#else
inline constexpr std::size_t worth_a_call = all;
#endif

// Where sums start: at the biases, or at what was summed of the inner index so far.
struct AtBias {};
template <std::size_t Width>
struct GoOn {
  const float* sums;
  std::size_t panel_stride;
};

// Of so few tokens that they leave lanes idle: a single panel, then.
template <class Simd, Tiling T, std::size_t Rows, std::size_t Inner, std::size_t RowStride, Bias B, class Finish>
LADON_INLINE void project_folded(WeightRows<RowStride, 1, B> w, const float* panel, Finish finish) noexcept {
  using Wide = typename Simd::template Pack<Simd::lanes>;
  using Pack = typename Simd::template Pack<T.lanes>;
  for_row_tiles<Rows, rows_at_a_time<T, 1, RowStride, 1>>([&]<std::size_t R>(std::size_t first) {
    const auto bias = bias_of(w, first);
    const float* const rows = w.weight + first * RowStride;
    FoldedTile<Wide, R, fold_of<Simd, T, Inner, 1>> tile;
    tile.template accumulate<RowStride, prefetches_rows<RowStride, 1>>(Inner, rows, panel, rows + R * RowStride);
    tile.finish([&](std::size_t r, const Pack& sum) { finish(0, first + r, 0, Pack::broadcast(bias[r]) + sum); });
  });
}

template <class Simd, Tiling T, std::size_t Packs, std::size_t Rows, std::size_t Inner, std::size_t RowStride,
          std::size_t InnerStride, Bias B, class Finish, class From = AtBias>
LADON_KERNEL constexpr void project_panels(WeightRows<RowStride, InnerStride, B> w, const float* in, std::size_t panels,
                                           Finish finish, [[maybe_unused]] From from = {},
                                           [[maybe_unused]] Reading reading = Reading::first) noexcept {
  if constexpr (fold_of<Simd, T, Inner, InnerStride> > 1) {
    static_assert(Packs == 1 && std::is_same_v<From, AtBias>,
                  "a few tokens are one panel, and share weights with none");
    if (panels > 0) project_folded<Simd, T, Rows, Inner>(w, in, finish);
  } else {
    using Pack = typename Simd::template Pack<T.lanes>;
    for_row_tiles<Rows, rows_at_a_time<T, Packs, RowStride, InnerStride>>([&]<std::size_t R>(std::size_t first) {
      for (std::size_t p = 0; p < panels; ++p) {
        [[maybe_unused]] const auto bias = bias_of(w, first);
        Tile<Pack, R, Packs> tile([&](std::size_t r, [[maybe_unused]] std::size_t v) {
          if constexpr (std::is_same_v<From, AtBias>) {
            return Pack::broadcast(bias[r]);
          } else {
            return Pack::load(from.sums + p * from.panel_stride + (first + r) * T.width() + v * Pack::lanes);
          }
        });
        if constexpr (prefetches_rows<RowStride, InnerStride>) {
          const float* const rows = w.weight + first * RowStride;
          const float* const panel = in + p * Inner * T.width();
          if (!std::is_constant_evaluated() && reading == Reading::first && p + 1 == panels) {
            tile.template accumulate_and_prefetch<RowStride, InnerStride, T.width()>(Inner, rows, panel,
                                                                                     rows + R * RowStride);
          } else {
            tile.template accumulate<RowStride, InnerStride, T.width()>(Inner, rows, panel);
          }
        } else {
          tile.template accumulate<RowStride, InnerStride, T.width()>(Inner, w.weight + first * RowStride,
                                                                      in + p * Inner * T.width());
        }
        tile.finish([&](std::size_t r, std::size_t v, const Pack& sum) { finish(p, first + r, v, sum); });
      }
    });
  }
}

template <class Simd, Tiling T, std::size_t Packs, std::size_t Rows, std::size_t Inner, class W, class Finish>
LADON_NOINLINE constexpr void project_by_itself(W w, const float* in, std::size_t panels, Finish finish,
                                                Reading reading) noexcept {
  project_panels<Simd, T, Packs, Rows, Inner>(w, in, panels, finish, AtBias{}, reading);
}

template <class Simd, Tiling T, std::size_t Packs, std::size_t Rows, std::size_t Inner, class W, class Finish>
LADON_INLINE constexpr void project(const W& w, const float* in, std::size_t panels, Finish finish,
                                    [[maybe_unused]] Reading reading = Reading::first) noexcept {
  if constexpr (one_token<Simd, T>) {
    mat_vec<Simd, Rows, Inner>(w, in, finish);
  } else if constexpr (Rows * Inner >= worth_a_call) {
    project_by_itself<Simd, T, Packs, Rows, Inner>(w, in, panels, finish, reading);
  } else {
    project_panels<Simd, T, Packs, Rows, Inner>(w, in, panels, finish, AtBias{}, reading);
  }
}

// out = scale * sum: queries take the scale of the scores here, once, instead of every score.
template <std::size_t Width>
struct StoreScaled {
  float* out;
  std::size_t panel_stride;
  float scale;
  template <class Pack>
  LADON_INLINE constexpr void operator()(std::size_t p, std::size_t row, std::size_t v,
                                         const Pack& sum) const noexcept {
    (sum * Pack::broadcast(scale)).store(out + p * panel_stride + row * Width + v * Pack::lanes);
  }
};

// out = f(sum)
template <std::size_t Width, Activation F>
struct StoreActivated {
  float* out;
  std::size_t panel_stride;
  template <class Pack>
  LADON_INLINE constexpr void operator()(std::size_t p, std::size_t row, std::size_t v,
                                         const Pack& sum) const noexcept {
    activate<F>(sum).store(out + p * panel_stride + row * Width + v * Pack::lanes);
  }
};

// out *= sum: what a gate lets through, in place.
template <std::size_t Width>
struct MultiplyInto {
  float* out;
  std::size_t panel_stride;
  template <class Pack>
  LADON_INLINE constexpr void operator()(std::size_t p, std::size_t row, std::size_t v,
                                         const Pack& sum) const noexcept {
    float* const at = out + p * panel_stride + row * Width + v * Pack::lanes;
    (Pack::load(at) * sum).store(at);
  }
};

// out += sum: the residual connection, in place.
template <std::size_t Width>
struct AddTo {
  float* out;
  std::size_t panel_stride;
  template <class Pack>
  LADON_INLINE constexpr void operator()(std::size_t p, std::size_t row, std::size_t v,
                                         const Pack& sum) const noexcept {
    float* const at = out + p * panel_stride + row * Width + v * Pack::lanes;
    (Pack::load(at) + sum).store(at);
  }
};

}  // namespace ladon::inline LADON_ABI::detail
