// must print: ladon: more queries than the shape has room for
// later error: the compiler names the call that is not constant first
#define LADON_CHECKED 1
#include <ladon/ladon.hpp>

using Attention = ladon::Attention<ladon::Shape{.queries = 3, .model = 2, .heads = 1}>;
constexpr ladon::Lengths lengths = Attention::Options{.queries = 4}.lengths();
