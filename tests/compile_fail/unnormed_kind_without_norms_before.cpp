// must print: ladon: LayerKind::unnormed_attention needs norms before the sublayers: NormOrder::pre or both
#include <ladon/ladon.hpp>

constexpr ladon::Model model{
    .tokens = 5, .model = 6, .heads = 2, .feed_forward = 7, .kinds = {{.unnormed_attention = true}}};
using Layer = ladon::EncoderLayer<model>;
static_assert(Layer::shape.model == 6);
