// must print: ladon: a stack needs at least one layer
#include <ladon/ladon.hpp>

using Stack = ladon::Encoder<ladon::Model{.layers = 0, .tokens = 4, .model = 6, .heads = 2, .feed_forward = 8}>;
Stack::Options options;
