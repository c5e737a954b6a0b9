// must print: ladon: a decoder needs a memory of at least one token
#include <ladon/ladon.hpp>

using Layer =
    ladon::DecoderLayer<ladon::Shape{.queries = 4, .model = 6, .heads = 2}, 0, ladon::LayerConfig{.feed_forward = 3}>;
Layer::Options options;
