// must print: ladon: an encoder needs at least one layer
#include <ladon/ladon.hpp>

using Stack =
    ladon::Encoder<0, ladon::Shape{.queries = 4, .model = 6, .heads = 2}, ladon::LayerConfig{.feed_forward = 8}>;
Stack::Options options;
