// Measures the speed of multi-head attention and of the encoder layer, as a share of the peak. The program also
// measures the peak.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <type_traits>
#include <utility>
#include <vector>

#include <ladon/ladon.hpp>

#include "linear_memory.hpp"
#include "measurements.hpp"
#include "parameters.hpp"
#include "rounds.hpp"

namespace ladon_bench {

using namespace ladon;

// Returns the flops that attention needs. A multiply-add counts as two flops. The four projections count as flops of
// the weights' precision, and scores and weighted sums as float32. A causal mask halves scores and weighted sums.
template <class Precision>
bench::Flops attention_flops(const Shape& s, bool causal) {
  const double tokens = static_cast<double>(s.queries), model = static_cast<double>(s.model);
  const double products = 8 * tokens * model * model, rest = (causal ? 2 : 4) * tokens * tokens * model;
  return precision::is_int8<Precision> ? bench::Flops{rest, products} : bench::Flops{products + rest};
}

// Holds the weights of a linear map in `Precision`. The weights are random, as at the start of training.
template <std::size_t Out, std::size_t In, class Precision>
class RandomLinear {
 public:
  auto view() const { return linear_.view(); }

 private:
  Parameters floats_{Out, In};
  LinearMemory<Out, In, Precision> linear_{floats_.weight.data(), floats_.bias.data()};
};

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

template <Shape S, class Precision, class Mask, class Score>
void measure_attention(benchmark::State& state, double patience) {
  using Attention = MultiHeadAttention<S, Mask, layout::InProj::With<Precision>, Score>;
  const RandomLinear<3 * S.model, S.model, Precision> in;
  const RandomLinear<S.model, S.model, Precision> out;
  const std::vector<float> x = random_numbers(S.queries * S.model, 1);
  std::vector<float> y(S.queries * S.model);
  const auto workspace = std::make_unique<typename Attention::Workspace>();
  const typename Attention::Weights weights{.in_proj = in.view(), .out_proj = out.view()};
  const MaskMemory<Mask, Attention::shape> memory;
  const typename Attention::Options options{.mask = memory.data()};
  bench::measure(state, patience, attention_flops<Precision>(S, std::is_same_v<Mask, mask::Causal>), [&] {
    Attention::run(x.data(), weights, y.data(), *workspace, options);
    benchmark::DoNotOptimize(y.data());
  });
}

template <Shape S, class Precision>
void measure_encoder_layer(benchmark::State& state, double patience) {
  constexpr std::size_t hidden = 4 * S.model;
  using Layer = EncoderLayer<Model{.feed_forward = hidden}.with(S), mask::Unmasked, layout::InProj::With<Precision>>;
  const RandomLinear<3 * S.model, S.model, Precision> in;
  const RandomLinear<S.model, S.model, Precision> out;
  const RandomLinear<hidden, S.model, Precision> first;
  const RandomLinear<S.model, hidden, Precision> second;
  const std::vector<float> ones(S.model, 1.0f), zeros(S.model, 0.0f), x = random_numbers(S.queries * S.model, 1);
  std::vector<float> y(S.queries * S.model);
  const auto workspace = std::make_unique<typename Layer::Workspace>();
  const typename Layer::Weights weights{.attention = {.in_proj = in.view(), .out_proj = out.view()},
                                        .linear1 = first.view(),
                                        .linear2 = second.view(),
                                        .norm1 = {ones.data(), zeros.data()},
                                        .norm2 = {ones.data(), zeros.data()}};
  bench::Flops flops = attention_flops<Precision>(S, false);
  (precision::is_int8<Precision> ? flops.int8 : flops.float32) += 4.0 * S.queries * S.model * hidden;
  bench::measure(state, patience, flops, [&] {
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

template <Shape S, class Precision>
Case named(const char* layer, const char* mask) {
  return {.layer = layer,
          .tokens = S.queries,
          .model = S.model,
          .heads = S.heads,
          .mask = mask,
          .precision = name_of<Precision>};
}

template <Shape S, class Precision>
bool add_attention() {
  return add(named<S, Precision>("attention", "full"),
             measure_attention<S, Precision, mask::Unmasked, score::Scaled>) &&
         add(named<S, Precision>("attention", "causal"), measure_attention<S, Precision, mask::Causal, score::Scaled>);
}

// Adds measurements of attention with various masks, and with a softcap. Every measurement counts the flops of
// attention without a mask, so that its result can be compared with attention without a mask.
template <Shape S, class Precision>
bool add_options() {
  const auto named_options = [](const char* mask) { return named<S, Precision>("attention", mask); };
  return add(named_options("bits"), measure_attention<S, Precision, mask::Bits, score::Scaled>) &&
         add(named_options("boolean"), measure_attention<S, Precision, mask::Boolean, score::Scaled>) &&
         add(named_options("additive"), measure_attention<S, Precision, mask::Additive, score::Scaled>) &&
         add(named_options("alibi"), measure_attention<S, Precision, mask::Alibi, score::Scaled>) &&
         add(named_options("softcap"), measure_attention<S, Precision, mask::Unmasked, Capped>);
}

template <Shape S, class Precision>
bool add_encoder_layer() {
  return add(named<S, Precision>("encoder_layer", "full"), measure_encoder_layer<S, Precision>);
}

}  // namespace ladon_bench
