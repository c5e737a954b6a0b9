// must print: ladon: NormKind::same is a value of Model::feed_forward_norm_kind only
#include <ladon/ladon.hpp>

constexpr ladon::Model model{
    .tokens = 5, .model = 6, .heads = 2, .feed_forward = 7, .norm_kind = ladon::NormKind::same};
using Layer = ladon::EncoderLayer<model>;
static_assert(Layer::shape.model == 6);
