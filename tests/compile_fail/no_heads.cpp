// must print: ladon: a shape needs at least one head; heads has no default
#include <ladon/ladon.hpp>

using Attention = ladon::MultiHeadAttention<ladon::Shape{.queries = 4, .model = 6}>;
Attention::Weights weights;
