// must print: ladon: positions are compared as float
// must print: 16777216
#include <ladon/ladon.hpp>

// Positions are compared as floats, which hold every integer only up to 2^24 = 16777216.
using Attention = ladon::MultiHeadAttention<ladon::Shape{.queries = 1, .keys = 1u << 24, .model = 6, .heads = 2}>;
Attention::Weights weights;
