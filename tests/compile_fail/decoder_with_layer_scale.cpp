// must print: ladon: a decoder layer has no layer scale
#include <ladon/ladon.hpp>

constexpr ladon::Model model{.tokens = 5, .memory = 3, .model = 6, .heads = 2, .feed_forward = 7, .layer_scale = true};
using Layer = ladon::DecoderLayer<model>;
static_assert(Layer::shape.model == 6);
