// Feed-forward of a few panels with its residual: out += W2 f(W1 in + b1) + b2. A gated one (Shazeer, "GLU Variants
// Improve Transformer", arXiv 2002.05202) multiplies before W2: out += W2 (f(Wg in + bg) * (W1 in + b1)) + b2.
//
//     in, out, sums  [panels][Model][Width]     hidden  [panels][chunk][Width], scratch
//
// These weights are most of a layer's, and more than the nearer caches hold: read once a panel, they come too slowly.
// So a few panels share what is read, and for as many hidden features at a time, a chunk, as the scratch memory of one
// panel has room for then. What W2 sums goes on from chunk to chunk in `sums`, in the order that it would have at once.
#pragma once

#include <cstddef>

#include <ladon/detail/layer/activation.hpp>
#include <ladon/detail/linear/matmul.hpp>
#include <ladon/detail/memory/panels.hpp>
#include <ladon/layer_config.hpp>

namespace ladon::inline LADON_ABI::detail {

// How many panels share the weights, and how many hidden features come at a time.
struct FeedForwardPlan {
  std::size_t panels;
  std::size_t chunk;
};

// Four panels where W1 and W2 together are larger than what stays in the second cache (encoder layer (128,768,12),
// where they have 18.9 MB, on a Cascade Lake: 56 -> 74% of peak, (128,384,12) 82 -> 82%; with the rows of the next tile
// asked for, as project.hpp does: 67 -> 77%, 84 -> 86%). One where there is no cache to speak of, on a microcontroller
// and for a single token, and where the heads leave no room for sums.
template <Shape S, LayerConfig Form, class Target>
inline constexpr FeedForwardPlan feed_forward_plan = [] {
  constexpr Tiling t = PanelLayout<S, Target>::queries;
  constexpr std::size_t weight_bytes = 2 * S.model * Form.feed_forward * sizeof(float);
  constexpr bool fit = weight_bytes <= target::Current::second_cache_bytes;
  constexpr bool one_panel = fit || Target::lanes == 1 || t.width() == 1 || S.concat_width() < S.model;
  constexpr std::size_t most = one_panel ? 1 : target::Current::feed_forward_panels;
  constexpr std::size_t panels = t.panels(S.queries) < most ? t.panels(S.queries) : most;
  return FeedForwardPlan{panels, (Form.feed_forward + panels - 1) / panels};
}();

template <class Simd, Tiling T, std::size_t Packs, std::size_t Model, LayerConfig Form, std::size_t Chunk>
struct FeedForward {
  static constexpr std::size_t width = T.width();
  static constexpr std::size_t hidden_width = Form.feed_forward;
  static constexpr std::size_t stride = Model * width;
  static constexpr std::size_t chunks = (hidden_width + Chunk - 1) / Chunk;

  std::size_t panels;
  const float* in;
  float* hidden;
  float* sums;
  float* out;

  template <class Layer>
  constexpr void run(const Layer& w) const noexcept {
    const Epilogue<width, Unchanged, Combine::add> add_to_out{out, stride};
    if constexpr (chunks == 1) {
      first_linear<hidden_width>(w, 0);
      second_linear<hidden_width>(w.linear2.rows_from(0), add_to_out, StartAtBias{});
    } else {
      const Accumulate<width> so_far{sums, stride};
      const Epilogue<width> keep{sums, stride};
      first_linear<Chunk>(w, 0);
      second_linear<Chunk>(w.linear2.rows_from(0), keep, StartAtBias{});
      for (std::size_t c = 1; c + 1 < chunks; ++c) {
        first_linear<Chunk>(w, c * Chunk);
        second_linear<Chunk>(w.linear2.rows_from(0).columns_from(c * Chunk), keep, so_far);
      }
      constexpr std::size_t last = (chunks - 1) * Chunk;
      first_linear<hidden_width - last>(w, last);
      second_linear<hidden_width - last>(w.linear2.rows_from(0).columns_from(last), add_to_out, so_far);
    }
  }

 private:
  // Hidden features [first, first + Count) of every panel.
  template <std::size_t Count, class Layer>
  constexpr void first_linear(const Layer& w, std::size_t first) const noexcept {
    const Epilogue<width, Activate<Form.activation>> activated{hidden, Count * width};
    if constexpr (Form.gated) {
      matmul<Simd, T, Packs, Count, Model>(w.gate.rows_from(first), in, panels, activated);
      matmul<Simd, T, Packs, Count, Model>(w.linear1.rows_from(first), in, panels,
                                           Epilogue<width, Unchanged, Combine::multiply>{hidden, Count * width});
    } else {
      matmul<Simd, T, Packs, Count, Model>(w.linear1.rows_from(first), in, panels, activated);
    }
  }

  template <std::size_t Count, class Rows, class Epilogue, class Start>
  constexpr void second_linear(const Rows& columns, Epilogue epilogue, Start start) const noexcept {
    if constexpr (is_single_token<Simd, T>) {
      matmul<Simd, T, Packs, Model, Count>(columns, hidden, panels, epilogue);
    } else {
      matmul_panels<Simd, T, Packs, Model, Count>(columns, hidden, panels, epilogue, start);
    }
  }
};

}  // namespace ladon::inline LADON_ABI::detail
