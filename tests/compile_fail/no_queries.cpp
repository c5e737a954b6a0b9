// must print: ladon: a shape needs at least one query
#include <ladon/ladon.hpp>

using Attention = ladon::MultiHeadAttention<ladon::Shape{.keys = 4, .model = 6, .heads = 2}>;
Attention::Weights weights;
