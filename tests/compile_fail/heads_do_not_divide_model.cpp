// must print: ladon: heads must divide the model width
// must print: Shape{4, 0, 7, 2,
#include <ladon/ladon.hpp>

using Attention = ladon::MultiHeadAttention<ladon::Shape{.queries = 4, .model = 7, .heads = 2}>;
Attention::Weights weights;
