// must print: ladon: kv_heads must divide heads
// must print: Shape{4, 0, 6, 3, 2,
#include <ladon/ladon.hpp>

using Attention = ladon::MultiHeadAttention<ladon::Shape{.queries = 4, .model = 6, .heads = 3, .kv_heads = 2}>;
Attention::Weights weights;
