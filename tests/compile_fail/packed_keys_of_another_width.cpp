// must print: ladon: one in_proj takes queries, keys and values from tokens of one width
// must print: 7 == 6
#include <ladon/ladon.hpp>

using Cross = ladon::MultiHeadAttention<ladon::Shape{.queries = 4, .keys = 5, .model = 6, .heads = 2, .key_model = 7}>;
Cross::Weights weights;
