// must print: ladon: an option is unknown or misplaced
// must print: a table is given by its address, as in {.position = {.table = &table}}
#include <ladon/ladon.hpp>

using Attention = ladon::MultiHeadAttention<ladon::Model{
    .tokens = 4, .model = 8, .heads = 2, .position = {.width = 4, .positions = 4}}>;

void attend(const float* x, const Attention::Weights& weights, float* y, Attention::Workspace& workspace) {
  static const ladon::RotaryTable<4, 4> table = ladon::rotary_table<4, 4>();
  Attention::run(x, weights, y, workspace, {.position = {.table = table}});
}
