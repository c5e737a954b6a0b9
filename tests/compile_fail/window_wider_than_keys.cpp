// message: ladon: this window is wider to the left than keys and queries together
// says: Window<10
// says: Shape{5, 5, 6, 2,
#include <ladon/ladon.hpp>

using Attention =
    ladon::MultiHeadAttention<ladon::Shape{.queries = 5, .model = 6, .heads = 2}, ladon::mask::Window<10>>;
void run(const float* x, float* y, const Attention::Weights& weights, Attention::Workspace& workspace) {
  Attention::run(x, weights, y, workspace);
}
