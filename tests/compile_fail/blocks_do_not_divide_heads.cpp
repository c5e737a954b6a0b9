// must print: ladon: projection_blocks must divide heads and kv_heads
#include <ladon/ladon.hpp>

using Attention = ladon::MultiHeadAttention<ladon::Model{
    .tokens = 4, .model = 12, .heads = 6, .kv_heads = 2, .projection_blocks = 3}>;
Attention::Weights weights;
