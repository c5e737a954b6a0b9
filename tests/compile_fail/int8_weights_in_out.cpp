// must print: ladon: int8 weights are (out, in)
#include <ladon/ladon.hpp>

using Attention = ladon::MultiHeadAttention<ladon::Shape{.queries = 4, .model = 8, .heads = 2}, ladon::mask::Unmasked,
                                            ladon::layout::Int8<ladon::layout::InOut>>;
Attention::Weights weights;
