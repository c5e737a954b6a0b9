// must print: ladon: bfloat16 weights are (out, in)
#include <ladon/ladon.hpp>

using Attention = ladon::MultiHeadAttention<ladon::Shape{.queries = 4, .model = 8, .heads = 2}, ladon::mask::Unmasked,
                                            ladon::layout::BFloat16<ladon::layout::InOut>>;
Attention::Weights weights;
