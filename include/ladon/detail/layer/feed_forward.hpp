// SPDX-License-Identifier: Apache-2.0
// The feed-forward network of a few panels (detail/panel/panels.hpp), with its residual connection:
//     plain    out += W2 f(W1 in + b1) + b2
//     gated    out += W2 (f(Wg in + bg) * (W1 in + b1)) + b2
//
// Shazeer, "GLU Variants Improve Transformer", arXiv 2002.05202, defines the gated network.
//
// The arrays and their shapes:
//     in       [panels][model][width]   tokens, or their norms, as the input of a product
//     hidden   [panels][Chunk][width]   scratch: the hidden features of one chunk
//     sums     [panels][model][width]   scratch: W2 times the earlier chunks of `hidden`; unused with a single chunk
//     out      [panels][model][width]   residual, updated in place; `in` and `out` may be the same array
//
// W1 and W2 hold most of a layer's weights, and are often too large for the L1 and L2 caches. Reading all weights again
// for each panel would be too slow. Each weight that is read is therefore used for a few panels.
//
// `hidden` has room for the hidden features of about one panel. With n panels at a time, each panel uses 1/n of
// `hidden`. The hidden features are therefore computed in chunks. A chunk has 1/n of the features of each panel,
// rounded up. The product of W2 and each chunk is added to `sums`. The order of additions is the same as with a single
// chunk.
//
// With int8 weights, `in` is quantised (detail/panel/input.hpp), and `hidden` is quantised before the second
// product. All hidden features of a token are quantised with one scale, so they must be in a single chunk. `hidden`
// then has room for one panel. On microcontrollers, several panels are still computed at a time if their hidden
// features fit into the memory of the keys (EncoderScratch).
//
// Special cases: the last chunk may have fewer than Chunk features; `run` computes it separately. Lanes without a token
// are computed and ignored.
#pragma once

#include <cstddef>
#include <type_traits>

#include <ladon/detail/layer/activation.hpp>
#include <ladon/detail/panel/input.hpp>
#include <ladon/detail/panel/panels.hpp>
#include <ladon/detail/product/product.hpp>
#include <ladon/model.hpp>

namespace LADON_NAMESPACE::detail {

struct FeedForwardPlan {
  std::size_t panels;  // how many panels one pass over the weights multiplies
  std::size_t chunk;   // how many hidden features a chunk has
};

// How many panels a layer computes at a time, and how many hidden features a chunk has. The layer reads each weight
// once for all panels that it computes at a time. If W1 and W2 together exceed target::Current::second_cache_bytes, the
// plan has up to feed_forward_panels panels (four). detail/target/defaults.hpp has the measurements. Each weight counts
// as 4 bytes, even if the weights are bfloat16. Wg is not counted.
//
// In four cases, the plan has a single panel, even if the weights exceed second_cache_bytes:
// - The weights are int8. The hidden features of a token are quantised together, so all hidden features must be in one
//   chunk. On microcontrollers, EncoderScratch::panels is used instead of the plan's number of panels.
// - The target has no vectors. Such a target is usually a microcontroller without a cache.
// - There is a single token.
// - concat_width is less than `model`. The caller stores `sums` in the array of the concatenated heads, which would be
//   too small.
template <Shape S, Model Config, class Vectors, class Precision>
inline constexpr FeedForwardPlan feed_forward_plan = [] {
  using target::Current;
  if (precision::is_int8<Precision>) return FeedForwardPlan{1, Config.feed_forward};
  constexpr std::size_t weight_bytes = 2 * S.model * Config.feed_forward * sizeof(float);
  constexpr PanelLayout t = ShapeLayout<S, Vectors>::queries;
  constexpr std::size_t query_panels = t.panels(S.queries);
  constexpr bool exceeds_cache = weight_bytes > Current::second_cache_bytes && Vectors::lanes > 1 && t.width() > 1;
  constexpr bool shares_weights = exceeds_cache && S.concat_width() >= S.model;
  constexpr std::size_t panels = !shares_weights                               ? 1
                                 : query_panels < Current::feed_forward_panels ? query_panels
                                                                               : Current::feed_forward_panels;
  return FeedForwardPlan{panels, (Config.feed_forward + panels - 1) / panels};
}();

template <class Simd, PanelLayout T, std::size_t Packs, Model Config, std::size_t Chunk>
struct FeedForward {
  static constexpr std::size_t width = T.width();
  static constexpr std::size_t hidden_width = Config.feed_forward;
  static constexpr std::size_t stride = Config.model * width;  // how many floats a panel of `in`, `sums` or `out` has
  static constexpr std::size_t chunks = (hidden_width + Chunk - 1) / Chunk;

  std::size_t panels;
  float* hidden;
  float* sums;
  float* out;

  // Adds the network's result to `out`. `w` has the members `linear1` and `linear2`. If the network is gated, `w` also
  // has the member `gate`. `hidden_input` is memory for the converted input of the second product
  // (detail/panel/input.hpp).
  template <class LayerWeights, class In, class HiddenInput>
  constexpr void run(const LayerWeights& w, In in, HiddenInput& hidden_input) const noexcept {
    const Epilogue<width, Unchanged, Combine::add> add_to_out{out, stride};
    if constexpr (chunks == 1) {
      first_linear<hidden_width>(w, in, 0);
      second_linear<hidden_width>(w.linear2.rows_from(0), hidden_input, add_to_out, StartAtBias{});
    } else {
      const Accumulate<width> from_sums{sums, stride};
      const Epilogue<width> store_sums{sums, stride};
      first_linear<Chunk>(w, in, 0);
      second_linear<Chunk>(w.linear2.rows_from(0), hidden_input, store_sums, StartAtBias{});
      for (std::size_t c = 1; c + 1 < chunks; ++c) {
        first_linear<Chunk>(w, in, c * Chunk);
        second_linear<Chunk>(w.linear2.rows_from(0).columns_from(c * Chunk), hidden_input, store_sums, from_sums);
      }
      constexpr std::size_t last = (chunks - 1) * Chunk;
      first_linear<hidden_width - last>(w, in, last);
      second_linear<hidden_width - last>(w.linear2.rows_from(0).columns_from(last), hidden_input, add_to_out,
                                         from_sums);
    }
  }

 private:
  // Computes Count hidden features of every panel, from feature number `first` on, and stores them in `hidden`.
  template <std::size_t Count, class LayerWeights, class In>
  constexpr void first_linear(const LayerWeights& w, In in, std::size_t first) const noexcept {
    constexpr bool rounded = is_quantised<In> || std::is_same_v<In, BFloat16PanelsView>;  // as in the second product
    const Epilogue<width, Activate<Config.activation, rounded>> store_activated{hidden, Count * width};
    if constexpr (activates_later && !Config.gated) {
      matmul<Simd, T, Packs, Count, Config.model>(w.linear1.rows_from(first), in, panels,
                                                  Epilogue<width, Unchanged>{hidden, Count * width});
      for (std::size_t p = 0; p < panels; ++p) activate_panel<Count * width, rounded>(hidden + p * Count * width);
    } else if constexpr (Config.gated) {
      matmul<Simd, T, Packs, Count, Config.model>(w.gate.rows_from(first), in, panels, store_activated);
      matmul<Simd, T, Packs, Count, Config.model>(w.linear1.rows_from(first), in, panels,
                                                  Epilogue<width, Unchanged, Combine::multiply>{hidden, Count * width});
    } else {
      matmul<Simd, T, Packs, Count, Config.model>(w.linear1.rows_from(first), in, panels, store_activated);
    }
  }

  // Whether activate_panel applies the activation after the product. Otherwise, the epilogue of the product applies it.
  // If a panel of several tokens is narrower than a register, only activate_panel can fill whole registers. GELU is
  // also applied after the product if the target computes GELU of several packs side by side.
  static constexpr bool activates_later = T.width() > 1 &&
                                          (T.width() < Simd::lanes || (Config.activation == Activation::gelu &&
                                                                       target::Current::gelu_packs_together > 1));

  // Applies the activation to Size floats.
  template <std::size_t Size, bool Rounded>
  static constexpr void activate_panel(float* at) noexcept {
    using Wide = typename Simd::template Pack<Simd::lanes>;
    using Narrow = typename Simd::template Pack<T.lanes>;
    constexpr std::size_t together = target::Current::gelu_packs_together, step = together * Wide::lanes;
    constexpr std::size_t most = Size / step * step, whole = Size / Wide::lanes * Wide::lanes;
    for (std::size_t i = 0; i < most; i += step) activate_packs<Rounded, Wide, together>(at + i);
    for (std::size_t i = most; i < whole; i += Wide::lanes) activate_packs<Rounded, Wide, 1>(at + i);
    for (std::size_t i = whole; i < Size; i += Narrow::lanes) activate_packs<Rounded, Narrow, 1>(at + i);
  }
  template <bool Rounded, class Pack, std::size_t N>
  static LADON_INLINE constexpr void activate_packs(float* at) noexcept {
    Pack x[N];
    vec::for_each_index<N>([&](std::size_t i) { x[i] = Pack::load(at + i * Pack::lanes); });
    activate_hidden<Config.activation, Rounded>(x);
    vec::for_each_index<N>([&](std::size_t i) { x[i].store(at + i * Pack::lanes); });
  }

  // Multiplies Count columns of W2 by `hidden`. Each sum starts at start(...), which is the bias, or the sum over the
  // earlier chunks. `epilogue` stores each finished sum (detail/product/epilogue.hpp).
  template <std::size_t Count, class Rows, class HiddenInput, class Epilogue, class Start>
  constexpr void second_linear(const Rows& columns, HiddenInput& hidden_input, Epilogue epilogue,
                               [[maybe_unused]] Start start) const noexcept {
    const auto in = hidden_input.template convert<Simd, T, Packs, Count>(hidden, 0, panels);
    if constexpr (is_single_token<Simd, T>) {
      matmul<Simd, T, Packs, Config.model, Count>(columns, in, panels, epilogue);
    } else {
      matmul_panels<Simd, T, Packs, Config.model, Count>(columns, in, panels, epilogue, start);
    }
  }
};

}  // namespace LADON_NAMESPACE::detail
