// must print: ladon: Ladon needs C++20
// flag: -std=c++17
// most lines: 20
#include <ladon/ladon.hpp>

using Attention = ladon::MultiHeadAttention<ladon::Shape{.queries = 4, .model = 6, .heads = 2}>;
