// Measures whole multi-head attention and the encoder layer, as a share of the FMA peak of the same run.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <type_traits>
#include <utility>
#include <vector>

#include <ladon/ladon.hpp>

#include "measurements.hpp"
#include "parameters.hpp"
#include "rounds.hpp"

namespace ladon_bench {

using namespace ladon;

// Returns the flops that the result needs, two for each multiply-add: four projections, the scores and the weighted
// sums. A causal mask halves the scores and the weighted sums.
inline double attention_flops(const Shape& s, bool causal) {
  const double tokens = static_cast<double>(s.queries), model = static_cast<double>(s.model);
  return 8 * tokens * model * model + (causal ? 2 : 4) * tokens * tokens * model;
}

// The data that a mask reads. Every pair is visible, so that the mask skips no work.
template <class Mask, Shape S>
struct MaskMemory {
  typename Mask::template Data<S> data() const { return {}; }
};
template <Shape S>
struct MaskMemory<mask::Bits, S> {
  std::vector<std::uint32_t> bits = std::vector<std::uint32_t>(S.queries * ((S.keys + 31) / 32), ~0u);
  mask::Bits::Data<S> data() const { return {.bits = bits.data()}; }
};
template <Shape S>
struct MaskMemory<mask::Boolean, S> {
  std::vector<std::uint8_t> bytes = std::vector<std::uint8_t>(S.queries * S.keys, 1);
  mask::Boolean::Data<S> data() const { return {.may_see = bytes.data()}; }
};
template <Shape S>
struct MaskMemory<mask::Additive, S> {
  std::vector<float> values = random_numbers(S.queries * S.keys, 1);
  mask::Additive::Data<S> data() const { return {.values = values.data()}; }
};

template <Shape S, class Mask, class Score>
void measure_attention(benchmark::State& state, double patience) {
  using Attention = MultiHeadAttention<S, Mask, layout::InProj, Score>;
  const Parameters in(3 * S.model, S.model), out(S.model, S.model);
  const std::vector<float> x = random_numbers(S.queries * S.model, 1);
  std::vector<float> y(S.queries * S.model);
  const auto workspace = std::make_unique<typename Attention::Workspace>();
  const typename Attention::Weights weights{.in_proj = {in.weight.data(), in.bias.data()},
                                            .out_proj = {out.weight.data(), out.bias.data()}};
  const MaskMemory<Mask, Attention::shape> memory;
  const typename Attention::Options options{.mask = memory.data()};
  bench::measure(state, patience, attention_flops(S, std::is_same_v<Mask, mask::Causal>), [&] {
    Attention::run(x.data(), weights, y.data(), *workspace, options);
    benchmark::DoNotOptimize(y.data());
  });
}

template <Shape S>
void measure_encoder_layer(benchmark::State& state, double patience) {
  constexpr std::size_t hidden = 4 * S.model;
  using Layer = EncoderLayer<S, LayerConfig{.feed_forward = hidden}>;
  const Parameters in(3 * S.model, S.model), out(S.model, S.model), first(hidden, S.model), second(S.model, hidden);
  const std::vector<float> ones(S.model, 1.0f), zeros(S.model, 0.0f), x = random_numbers(S.queries * S.model, 1);
  std::vector<float> y(S.queries * S.model);
  const auto workspace = std::make_unique<typename Layer::Workspace>();
  const typename Layer::Weights weights{
      .attention = {.in_proj = {in.weight.data(), in.bias.data()}, .out_proj = {out.weight.data(), out.bias.data()}},
      .linear1 = {first.weight.data(), first.bias.data()},
      .linear2 = {second.weight.data(), second.bias.data()},
      .norm1 = {ones.data(), zeros.data()},
      .norm2 = {ones.data(), zeros.data()}};
  const double feed_forward = 4.0 * S.queries * S.model * hidden;
  bench::measure(state, patience, attention_flops(S, false) + feed_forward, [&] {
    Layer::run(x.data(), weights, y.data(), *workspace);
    benchmark::DoNotOptimize(y.data());
  });
}

struct Capped : score::Scaled {
  static constexpr float softcap = 50;
};

inline bool add(Case what, Measurement::Run run) {
  measurements().push_back({std::move(what), run});
  return true;
}

template <Shape S>
bool add_attention() {
  const auto named = [](const char* mask) { return Case{"attention", S.queries, S.model, S.heads, mask}; };
  return add(named("full"), measure_attention<S, mask::None, score::Scaled>) &&
         add(named("causal"), measure_attention<S, mask::Causal, score::Scaled>);
}

// Adds the masks and scores whose cost is compared with "full". The flops are counted as for "full".
template <Shape S>
bool add_options() {
  const auto named = [](const char* mask) { return Case{"attention", S.queries, S.model, S.heads, mask}; };
  return add(named("bits"), measure_attention<S, mask::Bits, score::Scaled>) &&
         add(named("boolean"), measure_attention<S, mask::Boolean, score::Scaled>) &&
         add(named("additive"), measure_attention<S, mask::Additive, score::Scaled>) &&
         add(named("alibi"), measure_attention<S, mask::Alibi, score::Scaled>) &&
         add(named("softcap"), measure_attention<S, mask::None, Capped>);
}

template <Shape S>
bool add_encoder_layer() {
  return add({"encoder_layer", S.queries, S.model, S.heads, "full"}, measure_encoder_layer<S>);
}

}  // namespace ladon_bench
