// must print: offset
// later error: the compiler prints the type first
#include <ladon/ladon.hpp>

using Attention = ladon::Attention<ladon::Shape{.queries = 5, .model = 6, .heads = 2}, ladon::mask::CausalAt<3>>;
// Must not compile: CausalAt has its offset in the type, so its mask options have no member `offset`.
Attention::Options options{.mask = {.offset = 2}};
