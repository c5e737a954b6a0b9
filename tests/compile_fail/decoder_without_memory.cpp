// must print: ladon: a decoder needs a memory of at least one token
#include <ladon/ladon.hpp>

using Layer = ladon::DecoderLayer<ladon::Model{.tokens = 4, .memory = 0, .model = 6, .heads = 2, .feed_forward = 3}>;
Layer::Options options;
