// must print: ladon: an encoder layer needs the hidden width of its feed-forward network
#include <ladon/ladon.hpp>

using Layer = ladon::EncoderLayer<ladon::Model{.tokens = 4, .model = 6, .heads = 2}>;
Layer::Options options;
