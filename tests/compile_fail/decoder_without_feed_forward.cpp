// must print: ladon: a decoder layer needs the hidden width of its feed-forward network
#include <ladon/ladon.hpp>

using Layer = ladon::DecoderLayer<ladon::Shape{.queries = 4, .model = 6, .heads = 2}, 5, ladon::LayerConfig{}>;
Layer::Options options;
