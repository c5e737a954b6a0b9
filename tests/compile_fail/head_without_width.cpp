// must print: ladon: a head has no width: there are more heads than features
// must print: Shape{4, 0, 2, 4,
#include <ladon/ladon.hpp>

using Attention = ladon::MultiHeadAttention<ladon::Shape{.queries = 4, .model = 2, .heads = 4}>;
Attention::Weights weights;
