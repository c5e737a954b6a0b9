// The code of docs/pytorch.md with the changes for BERT.
#include <ladon/ladon.hpp>
#include <ladon/safetensors.hpp>

constexpr ladon::Model model{.layers = 2,
                             .tokens = 64,
                             .model = 8,
                             .heads = 2,
                             .feed_forward = 16,
                             .activation = ladon::Activation::gelu,
                             .mask = {.padding = true},
                             .layout = ladon::LayoutKind::separate_qkv};
using Encoder = ladon::Encoder<model>;
static Encoder::Workspace workspace;

void encode(const char* path, const float* x, const std::uint8_t* attention_mask, std::size_t tokens, float* y) {
  const ladon::safetensors::File file(path);
  const auto weights = ladon::safetensors::load<Encoder>(file, "encoder.layer", {.epsilon = 1e-12f});
  Encoder::run(x, weights, y, workspace, {.tokens = tokens, .mask = {.may_see = attention_mask}});
}
