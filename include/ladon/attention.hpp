// Attention of given queries, keys and values, without projections: softmax(scale Q K^T, masked) V for every head.
// The layout is that of PyTorch's scaled_dot_product_attention for one batch: [heads][tokens][width].
#pragma once

#include <cstddef>
#include <type_traits>

#include <ladon/detail/attention/query_block.hpp>
#include <ladon/detail/attention/rotate.hpp>
#include <ladon/detail/memory/workspace.hpp>
#include <ladon/mask.hpp>
#include <ladon/score.hpp>
#include <ladon/views.hpp>

namespace ladon::inline LADON_ABI {

namespace detail {

// Every head in turn: its keys and values into panels, then each panel of its queries in, through, and out again.
template <Shape S, class Score, class Target, class Simd>
struct GivenHeads {
  using L = PanelLayout<S, Target>;
  using Rotary = typename Score::Rotary;
  static constexpr Tiling q = L::queries, k = L::keys;
  using Pack = typename Simd::template Pack<q.lanes>;
  using KeyPack = typename Simd::template Pack<k.lanes>;

  template <class BoundMask, class Options, class CaptureOf>
  static constexpr void run(const float* queries, const float* keys, const float* values, float* out, Lengths lengths,
                            const BoundMask& mask, const Options& options, AttentionWorkspace<S, Target>& workspace,
                            CaptureOf capture_of) noexcept {
    HeadScratch<S, Target>& scratch = workspace.scratch;
    for (std::size_t g = 0; g < S.kv_heads; ++g) {
      to_panels<KeyPack, k, S.head_width>(keys + g * S.keys * S.head_width, lengths.keys, scratch.keys.data);
      to_panels<KeyPack, k, S.value_width>(values + g * S.keys * S.value_width, lengths.keys, scratch.values.data);
      if constexpr (Rotary::turns) {
        rotate_keys<Rotary, KeyPack, k, S.keys, S.head_width>(options.rotary, lengths.keys, scratch.keys.data);
      }
      const bool finite =
          !BoundMask::hides_keys || all_finite<KeyPack, k.width(), S.value_width>(scratch.values.data, lengths.keys);
      for (std::size_t h = g * S.heads_per_group(); h < (g + 1) * S.heads_per_group(); ++h) {
        const Head head{scratch.keys.data, scratch.values.data, finite, h, sink_of<Score>(options.sinks, h)};
        attend_head(head, queries + h * S.queries * S.head_width, out + h * S.queries * S.value_width, lengths, mask,
                    options, workspace, capture_of);
      }
    }
  }

 private:
  template <class BoundMask, class Options, class CaptureOf>
  static constexpr void attend_head(const Head& head, const float* rows, float* out, Lengths lengths,
                                    const BoundMask& mask, const Options& options,
                                    AttentionWorkspace<S, Target>& workspace, CaptureOf capture_of) noexcept {
    constexpr float scale = ScoreForm<S, Score>::query_scale;
    float* const query = workspace.scratch.query.data;
    for_panels<q, S.queries>(lengths.queries, [&]<std::size_t Packs>(std::size_t first, std::size_t count) {
      for (std::size_t p = first; p < first + count; ++p) {
        const Range queries = Range{p * q.width(), (p + 1) * q.width()} & Range{0, lengths.queries};
        to_panels<Pack, q, S.head_width>(rows + queries.begin * S.head_width, queries.end - queries.begin, query);
        for (std::size_t i = 0; i < S.head_width * q.width(); i += Pack::lanes) {
          (Pack::load(query + i) * Pack::broadcast(scale)).store(query + i);
        }
        if constexpr (Rotary::turns) {
          rotate<Rotary, Pack, Packs, q.width(), S.head_width>(
              options.rotary, static_cast<std::ptrdiff_t>(queries.begin) + Options::bottom_right(),
              queries.end - queries.begin, query);
        }
        attend<S, Score, Target, Simd, Packs>(head, query, queries, lengths.keys, mask, workspace.scratch.scores.data,
                                              workspace.out.data, capture_of(head.index, queries));
        from_panels<Pack, q, S.value_width>(workspace.out.data, queries.end - queries.begin,
                                            out + queries.begin * S.value_width);
      }
    });
  }
};

}  // namespace detail

// run() computes out [heads][queries][value_width] from q [heads][queries][head_width], k [kv_heads][keys][head_width]
// and v [kv_heads][keys][value_width]. The shape's model width only says how wide a head is. out may be q itself where
// their widths are equal; nothing else may overlap. Lengths as for MultiHeadAttention.
template <Shape ShapeGiven, mask::Policy Mask = mask::None, class Score = score::Scaled,
          class Target = detail::simd::Default>
struct Attention {
  static_assert(valid<ShapeGiven>());
  static constexpr Shape shape = ShapeGiven.complete();

  using Options = RunOptions<shape, Mask, Score>;
  using Map = AttentionMap<shape>;
  using Workspace = AttentionWorkspace<shape, Target>;
  using Queries = Tensor<const float, shape.heads, shape.queries, shape.head_width>;
  using Keys = Tensor<const float, shape.kv_heads, shape.keys, shape.head_width>;
  using Values = Tensor<const float, shape.kv_heads, shape.keys, shape.value_width>;
  using Output = Tensor<float, shape.heads, shape.queries, shape.value_width>;

  template <class To = detail::CaptureNothing>
  static constexpr void run(Queries q, Keys k, Values v, Output out, Workspace& workspace, const Options& options = {},
                            To&& to = {}) noexcept {
    const Lengths lengths = options.lengths();
    const auto bound = options.bind(lengths);
    detail::simd::with_packs<Target>([&]<class Simd>(Simd) {
      detail::GivenHeads<shape, Score, Target, Simd>::run(q.data, k.data, v.data, out.data, lengths, bound, options,
                                                          workspace, detail::capture<shape>(to));
    });
  }
};

}  // namespace ladon::inline LADON_ABI
