// must print: ladon: a decoder layer has NormOrder::post, pre or both
#include <ladon/ladon.hpp>

constexpr ladon::Model model{
    .tokens = 5, .memory = 3, .model = 6, .heads = 2, .feed_forward = 7, .norm = ladon::NormOrder::output};
using Layer = ladon::DecoderLayer<model>;
static_assert(Layer::shape.model == 6);
