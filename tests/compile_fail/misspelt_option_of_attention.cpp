// must print: ladon: an option is unknown or misplaced. The options are {.tokens, .queries, .keys, .mask, .sinks,
// must print: .position}, in this order
// most lines: 20
#include <ladon/ladon.hpp>

using Attention = ladon::Attention<ladon::Shape{.queries = 4, .model = 6, .heads = 2}>;
void run(const float* x, float* y, Attention::Workspace& workspace) {
  Attention::run(x, x, x, y, workspace, {.token = 3});
}
