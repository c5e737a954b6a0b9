// must print: ladon: a decoder's keys and values come from tokens as wide as the model
// must print: 7 == 6
#include <ladon/ladon.hpp>

using Layer = ladon::DecoderLayer<ladon::Shape{.queries = 4, .model = 6, .heads = 2, .key_model = 7}, 5,
                                  ladon::LayerConfig{.feed_forward = 3}, ladon::mask::Causal, ladon::mask::None,
                                  ladon::layout::SeparateQKV>;
Layer::Options options;
