// message: none, this one compiles: it does rightly what the others beside it do wrong
#include <array>
#include <span>

#include <ladon/ladon.hpp>

using Self = ladon::MultiHeadAttention<ladon::Shape{.queries = 4, .model = 6, .heads = 2}>;
using Cross = ladon::MultiHeadAttention<ladon::Shape{.queries = 4, .keys = 5, .model = 6, .heads = 2, .kv_heads = 1}>;
using Layer =
    ladon::EncoderLayer<ladon::Shape{.queries = 4, .model = 6, .heads = 2}, ladon::LayerForm{.feed_forward = 3}>;
using Stack =
    ladon::Encoder<2, ladon::Shape{.queries = 4, .model = 6, .heads = 2}, ladon::LayerForm{.feed_forward = 3}>;

using Decoder =
    ladon::Decoder<2, ladon::Shape{.queries = 4, .model = 6, .heads = 2}, 5, ladon::LayerForm{.feed_forward = 3}>;
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
