// must print: ladon: a mask has elements of std::uint8_t, not bool
// most lines: 20
#include <ladon/ladon.hpp>

using Attention =
    ladon::Attention<ladon::Shape{.queries = 3, .keys = 40, .model = 6, .heads = 2}, ladon::mask::Boolean>;
void run(const float* q, const float* k, float* y, Attention::Workspace& workspace, const bool* may_see) {
  Attention::run(q, k, k, y, workspace, {.mask = {.may_see = may_see}});
}
