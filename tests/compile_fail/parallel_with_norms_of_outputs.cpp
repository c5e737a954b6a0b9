// must print: ladon: a parallel residual connection needs norms before the sublayers: NormOrder::pre
#include <ladon/ladon.hpp>

constexpr ladon::Model model{.tokens = 5,
                             .model = 6,
                             .heads = 2,
                             .feed_forward = 7,
                             .norm = ladon::NormOrder::both,
                             .residual = ladon::Residual::parallel_one_norm};
using Layer = ladon::EncoderLayer<model>;
static_assert(Layer::shape.model == 6);
