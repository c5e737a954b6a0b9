// must print: offset
#include <ladon/ladon.hpp>

using Attention = ladon::Attention<ladon::Shape{.queries = 5, .model = 6, .heads = 2}, ladon::mask::CausalAt<3>>;
// CausalAt has its offset in the type, so the mask options have no member `offset`.
Attention::Options options{.mask = {.offset = 2}};
