// message: ladon: heads must divide the model width
#include <ladon/ladon.hpp>

using Attention = ladon::MultiHeadAttention<ladon::Shape{.queries = 4, .model = 7, .heads = 2}>;
Attention::Weights weights;
