// must print: ladon: a decoder with a memory has no norm of queries and keys over all heads
#include <ladon/ladon.hpp>

using Layer = ladon::DecoderLayer<ladon::Model{
    .tokens = 4, .memory = 4, .model = 6, .heads = 1, .feed_forward = 8, .query_key_norm = {ladon::HeadNorm::all}}>;
Layer::Weights weights;
