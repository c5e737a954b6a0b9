// must print: ladon: layout::BFloat16 does not compile with LADON_DETERMINISTIC
#define LADON_DETERMINISTIC 1
#include <ladon/ladon.hpp>

using Attention = ladon::MultiHeadAttention<ladon::Shape{.queries = 4, .model = 8, .heads = 2}, ladon::mask::Unmasked,
                                            ladon::layout::BFloat16<ladon::layout::InProj>>;
Attention::Weights weights;
