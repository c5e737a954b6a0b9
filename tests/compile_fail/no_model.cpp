// must print: ladon: a shape needs a model width
#include <ladon/ladon.hpp>

using Attention = ladon::MultiHeadAttention<ladon::Shape{.queries = 4, .heads = 2}>;
Attention::Weights weights;
