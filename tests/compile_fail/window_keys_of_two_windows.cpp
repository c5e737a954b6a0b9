// must print: ladon: with Model::window_keys, all windows of the kinds are equal
#include <ladon/ladon.hpp>

constexpr ladon::Model model{.layers = 3,
                             .tokens = 5,
                             .keys = 20,
                             .window_keys = 9,
                             .model = 6,
                             .heads = 2,
                             .feed_forward = 7,
                             .mask = {.causal = true},
                             .kinds = {{.window = 3}, {.window = 4}, {}}};
using Stack = ladon::Encoder<model>;
void extend(const float* x, Stack::Caches& caches, const Stack::Weights& weights, float* y,
            Stack::CachedWorkspace& workspace) {
  Stack::extend(x, caches, weights, y, workspace);
}
