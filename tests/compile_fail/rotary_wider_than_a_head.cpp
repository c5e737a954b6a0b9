// must print: ladon: rotary embedding turns more features than a head has
// must print: 4 <= 3
#include <ladon/ladon.hpp>

using Rotary = ladon::position::Rotary<ladon::Pairing::halves, 4, 8>;
using Attention = ladon::Attention<ladon::Shape{.queries = 5, .model = 6, .heads = 2}, ladon::mask::Unmasked,
                                   ladon::score::Scaled, Rotary>;
void run(const float* q, const float* k, const float* v, float* y, Attention::Workspace& workspace,
         const Attention::Options& options) {
  Attention::run(q, k, v, y, workspace, options);
}
