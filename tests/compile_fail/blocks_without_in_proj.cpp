// must print: ladon: projection_blocks and values_before_keys describe an in_proj, which this layout lacks
#include <ladon/ladon.hpp>

using Attention = ladon::MultiHeadAttention<ladon::Model{
    .tokens = 4, .model = 12, .heads = 2, .layout = ladon::LayoutKind::separate_qkv, .projection_blocks = 2}>;
Attention::Weights weights;
