// must print: ladon: a norm over all heads comes before the rotary embedding
#include <ladon/ladon.hpp>

using Attention = ladon::MultiHeadAttention<ladon::Model{
    .tokens = 4, .model = 6, .heads = 1, .query_key_norm = {.over = ladon::HeadNorm::all, .after_rotation = true}}>;
Attention::Weights weights;
