// must print: ladon: Model::window_keys is too small: it must hold a window and the tokens of one call
#include <ladon/ladon.hpp>

constexpr ladon::Model model{.layers = 2,
                             .tokens = 5,
                             .keys = 20,
                             .window_keys = 7,
                             .model = 6,
                             .heads = 2,
                             .feed_forward = 7,
                             .mask = {.causal = true},
                             .kinds = {{.window = 3}, {}}};
using Stack = ladon::Encoder<model>;
void extend(const float* x, Stack::Caches& caches, const Stack::Weights& weights, float* y,
            Stack::CachedWorkspace& workspace) {
  Stack::extend(x, caches, weights, y, workspace);
}
