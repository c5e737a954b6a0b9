// must print: ladon: a decoder's keys and values come from tokens as wide as the model
// must print: 7 == 6
#include <ladon/ladon.hpp>

using Layer =
    ladon::DecoderLayer<ladon::Model{
                            .tokens = 4, .memory = 5, .model = 6, .heads = 2, .key_model = 7, .feed_forward = 3},
                        ladon::mask::Causal, ladon::layout::SeparateQKV>;
Layer::Options options;
