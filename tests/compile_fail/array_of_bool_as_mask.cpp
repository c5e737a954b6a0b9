// must print: ladon: a mask has elements of std::uint8_t, not bool
// most lines: 20
#include <ladon/ladon.hpp>

using Attention =
    ladon::Attention<ladon::Shape{.queries = 3, .keys = 40, .model = 6, .heads = 2}, ladon::mask::Padding>;
extern const bool may_see[40];
Attention::Options options{.mask = {.may_see = may_see}};
