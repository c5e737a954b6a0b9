// message: ladon: one in_proj has one width
#include <ladon/ladon.hpp>

using Cross = ladon::MultiHeadAttention<ladon::Shape{.queries = 4, .keys = 5, .model = 6, .heads = 2, .key_model = 7}>;
Cross::Weights weights;
