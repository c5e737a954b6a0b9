// must print: ladon: a stack needs at least one layer
#include <ladon/ladon.hpp>

using Stack =
    ladon::Decoder<ladon::Model{.layers = 0, .tokens = 4, .memory = 5, .model = 6, .heads = 2, .feed_forward = 3}>;
Stack::Options options;
