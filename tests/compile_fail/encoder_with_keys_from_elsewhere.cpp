// message: ladon: an encoder attends to itself
#include <ladon/ladon.hpp>

using Layer = ladon::EncoderLayer<ladon::Shape{.queries = 4, .keys = 5, .model = 6, .heads = 2},
                                  ladon::LayerForm{.feed_forward = 8}>;
Layer::Options options;
