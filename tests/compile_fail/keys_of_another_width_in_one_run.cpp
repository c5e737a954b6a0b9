// must print: ladon: the tokens of keys and values have different widths. Call project_keys, then attend
// must print: 7 == 8
#include <ladon/ladon.hpp>

using Attention =
    ladon::MultiHeadAttention<ladon::Shape{
                                  .queries = 4, .keys = 5, .model = 6, .heads = 2, .key_model = 7, .value_model = 8},
                              ladon::mask::Unmasked, ladon::layout::SeparateQKV>;
void run(const float* x, const float* context, float* y, const Attention::Weights& weights,
         Attention::CrossWorkspace& workspace) {
  Attention::run(x, context, weights, y, workspace);
}
