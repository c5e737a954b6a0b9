// message: ladon: a decoder attends to itself
#include <ladon/ladon.hpp>

using Layer = ladon::DecoderLayer<ladon::Shape{.queries = 4, .keys = 5, .model = 6, .heads = 2}, 5,
                                  ladon::LayerConfig{.feed_forward = 3}>;
Layer::Options options;
