// must print: ladon: an encoder attends to itself, so keys and values come from tokens as wide as the model
#include <ladon/ladon.hpp>

using Layer =
    ladon::EncoderLayer<ladon::Model{.tokens = 4, .model = 6, .heads = 2, .value_model = 7, .feed_forward = 3},
                        ladon::mask::Unmasked, ladon::layout::SeparateQKV>;
Layer::Options options;
