// must print: ladon: a decoder layer needs the hidden width of its feed-forward network
#include <ladon/ladon.hpp>

using Layer = ladon::DecoderLayer<ladon::Model{.tokens = 4, .memory = 5, .model = 6, .heads = 2}>;
Layer::Options options;
