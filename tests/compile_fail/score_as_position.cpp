// must print: Policy
// must print: Attention
// later error: the compiler prints the class first
#include <ladon/ladon.hpp>

// The last template argument must be a position encoding, but it is a score policy.
using Attention = ladon::Attention<ladon::Shape{.queries = 5, .model = 8, .heads = 2}, ladon::mask::Unmasked,
                                   ladon::score::Scaled, ladon::score::Scaled>;
Attention::Options options;
