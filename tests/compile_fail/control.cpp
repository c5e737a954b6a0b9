// compiles: this file contains correct versions of the code in the other files
#include <array>
#include <cstdint>
#include <span>

#include <ladon/ladon.hpp>

#include "complete_mask.hpp"

using Self = ladon::MultiHeadAttention<ladon::Shape{.queries = 4, .model = 6, .heads = 2}>;
using Cross = ladon::MultiHeadAttention<ladon::Shape{.queries = 4, .keys = 5, .model = 6, .heads = 2, .kv_heads = 1}>;
using Layer = ladon::EncoderLayer<ladon::Model{.tokens = 4, .model = 6, .heads = 2, .feed_forward = 3}>;
using Stack = ladon::Encoder<ladon::Model{.layers = 2, .tokens = 4, .model = 6, .heads = 2, .feed_forward = 3}>;

using Decoder =
    ladon::Decoder<ladon::Model{.layers = 2, .tokens = 4, .memory = 5, .model = 6, .heads = 2, .feed_forward = 3}>;
Decoder::Options decoder_options;

void self(const float (&x)[4 * 6], std::array<float, 4 * 6>& y, const Self::Weights& weights,
          Self::Workspace& workspace) {
  Self::run(x, weights, y, workspace);
}
void cross(const float (&x)[4][6], std::span<const float, 5 * 6> context, const Cross::Weights& weights, float* y,
           Cross::Workspace& workspace) {
  Cross::run(x, context, weights, y, workspace);
}
void layer(const float* x, float* y, const Layer::Weights& weights, Layer::Workspace& workspace) {
  Layer::run(x, weights, y, workspace);
}
void stack(const float* x, float* y, const Stack::Weights& weights, Stack::Workspace& workspace) {
  Stack::run(x, weights, y, workspace);
}

constexpr ladon::Shape far{.queries = 3, .keys = 40, .model = 8, .heads = 2};
constexpr auto table = ladon::rotary_table<40, 4>();
struct WithSinks : ladon::score::Scaled {
  static constexpr bool sinks = true;
};
using Rotary = ladon::position::Rotary<ladon::Pairing::halves, 4, 40>;
using Given = ladon::Attention<far, decltype(ladon::mask::Bits{} & ladon::mask::Additive{}), WithSinks, Rotary>;
void given(const float* q, const float* k, const float* v, float* y, Given::Workspace& workspace,
           const std::uint32_t (&bits)[3][2], const float (&values)[3 * 40], const float (&sinks)[2]) {
  Given::run(
      q, k, v, y, workspace,
      {.mask = {.first = {.bits = bits}, .second = {.values = values}}, .sinks = sinks, .position = {.table = &table}});
}

using Memory =
    ladon::MultiHeadAttention<ladon::Shape{
                                  .queries = 3, .keys = 5, .model = 8, .heads = 2, .key_model = 7, .value_model = 9},
                              ladon::mask::Unmasked, ladon::layout::SeparateQKV>;
void memory(const float (&keys)[5][7], const float (&values)[5][9], const Memory::Weights& weights,
            Memory::Cache& cache, Memory::KeyWorkspace& workspace) {
  Memory::project_keys(keys, values, weights, cache, workspace);
}

using Text =
    ladon::MultiHeadAttention<ladon::Shape{.queries = 5, .keys = 10, .model = 6, .heads = 2}, ladon::mask::Window<5>>;
void text(const float* x, Text::Cache& cache, const Text::Weights& weights, float* y,
          Text::CachedWorkspace& workspace) {
  Text::extend(x, cache, weights, y, workspace);
}

using Masked = MaskedAttention<BoundComplete<>>;
void masked(const float* q, const float* k, const float* v, float* y, Masked::Workspace& workspace) {
  Masked::run(q, k, v, y, workspace);
}
