// must print: ladon: this window is wider to the right than keys and queries together
// must print: 9223372036854775807, 9, 0>
// must print: Shape{3, 5, 6, 2,
#include <ladon/ladon.hpp>

using Attention = ladon::Attention<ladon::Shape{.queries = 3, .keys = 5, .model = 6, .heads = 2},
                                   ladon::mask::WindowAt<ladon::all, 9, 0>>;
void run(const float* q, const float* k, const float* v, float* y, Attention::Workspace& workspace) {
  Attention::run(q, k, v, y, workspace);
}
