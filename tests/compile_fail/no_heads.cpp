// must print: ladon: a shape needs at least one head
#include <ladon/ladon.hpp>

using Attention = ladon::MultiHeadAttention<ladon::Shape{.queries = 4, .model = 6, .heads = 0}>;
Attention::Weights weights;
