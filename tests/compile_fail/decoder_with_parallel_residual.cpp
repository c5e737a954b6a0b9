// must print: ladon: a decoder layer has Residual::sequential
#include <ladon/ladon.hpp>

constexpr ladon::Model model{.tokens = 5,
                             .memory = 3,
                             .model = 6,
                             .heads = 2,
                             .feed_forward = 7,
                             .norm = ladon::NormOrder::pre,
                             .residual = ladon::Residual::parallel};
using Layer = ladon::DecoderLayer<model>;
static_assert(Layer::shape.model == 6);
