// must print: ladon: this window is wider to the left than keys and queries together
// must print: Window<10
// must print: Shape{5, 5, 6, 2,
#include <ladon/ladon.hpp>

using Attention =
    ladon::MultiHeadAttention<ladon::Shape{.queries = 5, .model = 6, .heads = 2}, ladon::mask::Window<10>>;
void run(const float* x, float* y, const Attention::Weights& weights, Attention::Workspace& workspace) {
  Attention::run(x, weights, y, workspace);
}
