// Instantiates attention and layers, with the compiler flags of firmware. check.cmake checks the undefined symbols of
// the object code.
#include <ladon/ladon.hpp>

namespace {

constexpr ladon::Shape shape{.queries = 33, .model = 20, .heads = 2};
using Mask = decltype(ladon::mask::Causal{} & ladon::mask::Padding{});
using Attention = ladon::MultiHeadAttention<shape, Mask>;
using Given = ladon::Attention<shape, ladon::mask::Unmasked>;
using Stack = ladon::Encoder<ladon::Model{.layers = 2,
                                          .feed_forward = 40,
                                          .activation = ladon::Activation::gelu,
                                          .norm = ladon::NormOrder::pre,
                                          .final_norm = ladon::FinalNorm::with}
                                 .with(shape),
                             Mask>;
using TanhLayer =
    ladon::EncoderLayer<ladon::Model{.feed_forward = 40, .activation = ladon::Activation::gelu_tanh}.with(shape), Mask>;

constinit Attention::Workspace attention_workspace{};
constinit Stack::Workspace stack_workspace{};

}  // namespace

extern "C" {

void attend(const float* x, const Attention::Weights* weights, float* y, const Attention::Options* options,
            float* map) {
  Attention::run(x, *weights, y, attention_workspace, *options, map);
}
void attend_given(const float* q, const float* k, const float* v, float* out, Given::Workspace* workspace) {
  Given::run(q, k, v, out, *workspace);
}
void encode(const float* x, const Stack::Weights* weights, float* y, const Stack::Options* options) {
  Stack::run(x, *weights, y, stack_workspace, *options);
}
void encode_phase(std::size_t phase, std::size_t index, std::size_t count, const float* x,
                  const Stack::Weights* weights, float* y, Stack::Shared* shared, Stack::Scratch* scratch) {
  Stack::run(x, *weights, y, ladon::Part<Stack::Shared, Stack::Scratch>{phase, {index, count}, *shared, *scratch});
}
void encode_layer(const float* x, const TanhLayer::Weights* weights, float* y, TanhLayer::Workspace* workspace) {
  TanhLayer::run(x, *weights, y, *workspace);
}

}  // extern "C"
