// The steps of attention without projections. For each head: keys and values into panels; then, panel by panel, queries
// into a panel, attention, and the result out of its panel.
#pragma once

#include <cstddef>

#include <ladon/detail/attention/query_block.hpp>
#include <ladon/detail/attention/rotate.hpp>
#include <ladon/detail/memory/workspace.hpp>
#include <ladon/shape.hpp>

namespace ladon::inline LADON_ABI::detail {

// Simd has the target's packs, or plain arrays in constant evaluation.
template <Shape S, class Score, class Position, class Target, class Simd>
struct AttentionSteps {
  using L = PanelLayout<S, Target>;
  static constexpr Tiling q = L::queries, k = L::keys;
  using Pack = typename Simd::template Pack<q.lanes>;
  using KeyPack = typename Simd::template Pack<k.lanes>;

  template <class Bound, class Options, class CaptureOf>
  static constexpr void run(const float* queries, const float* keys, const float* values, float* out, Lengths lengths,
                            const Bound& mask, const Options& options, AttentionWorkspace<S, Target>& workspace,
                            CaptureOf capture_of) noexcept {
    HeadScratch<S, Target>& scratch = workspace.scratch;
    for (std::size_t g = 0; g < S.kv_heads; ++g) {
      to_panels<KeyPack, k, S.head_width>(keys + g * S.keys * S.head_width, lengths.keys, scratch.keys.data);
      to_panels<KeyPack, k, S.value_width>(values + g * S.keys * S.value_width, lengths.keys, scratch.values.data);
      if constexpr (Position::rotates) {
        rotate_keys<Position, KeyPack, k, S.keys, S.head_width>(options.position, lengths.keys, scratch.keys.data);
      }
      const bool finite =
          !Bound::hides_keys || all_finite<KeyPack, k.width(), S.value_width>(scratch.values.data, lengths.keys);
      for (std::size_t h = g * S.heads_per_group(); h < (g + 1) * S.heads_per_group(); ++h) {
        const Head head{scratch.keys.data, scratch.values.data, finite, h, sink_of<Score>(options.sinks, h)};
        attend_head(head, queries + h * S.queries * S.head_width, out + h * S.queries * S.value_width, lengths, mask,
                    options, workspace, capture_of);
      }
    }
  }

 private:
  template <class Bound, class Options, class CaptureOf>
  static constexpr void attend_head(const Head& head, const float* rows, float* out, Lengths lengths, const Bound& mask,
                                    const Options& options, AttentionWorkspace<S, Target>& workspace,
                                    CaptureOf capture_of) noexcept {
    constexpr float scale = ScoreForm<S, Score>::query_scale;
    float* const query = workspace.scratch.query.data;
    for_panels<q, S.queries>(lengths.queries, [&]<std::size_t Packs>(std::size_t first, std::size_t count) {
      for (std::size_t p = first; p < first + count; ++p) {
        const Range queries = Range{p * q.width(), (p + 1) * q.width()} & Range{0, lengths.queries};
        to_panels<Pack, q, S.head_width>(rows + queries.begin * S.head_width, queries.end - queries.begin, query);
        for (std::size_t i = 0; i < S.head_width * q.width(); i += Pack::lanes) {
          (Pack::load(query + i) * Pack::broadcast(scale)).store(query + i);
        }
        if constexpr (Position::rotates) {
          rotate<Position, Pack, Packs, q.width(), S.head_width>(
              options.position, static_cast<std::ptrdiff_t>(queries.begin) + Options::bottom_right(),
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

}  // namespace ladon::inline LADON_ABI::detail
