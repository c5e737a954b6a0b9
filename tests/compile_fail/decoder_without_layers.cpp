// must print: ladon: a decoder needs at least one layer
#include <ladon/ladon.hpp>

using Stack =
    ladon::Decoder<0, ladon::Shape{.queries = 4, .model = 6, .heads = 2}, 5, ladon::LayerConfig{.feed_forward = 3}>;
Stack::Options options;
