// Checks kernels on the board: ladon_add_kernel with WEIGHTS and CHECK put their weights, and recorded inputs and
// results of PyTorch (tests/recipes/files/pytorch), into the image. f_wrong has another activation than the model.
#include <cstdint>

#include "board.hpp"
#include "f_stored.h"
#include "f_stored_check.h"
#include "f_wrong.h"
#include "f_wrong_check.h"

namespace {

alignas(F_STORED_WORKSPACE_ALIGN) unsigned char workspace[F_STORED_WORKSPACE_BYTES];
static_assert(F_STORED_WORKSPACE_BYTES == F_WRONG_WORKSPACE_BYTES);
float y[F_STORED_QUERIES * F_STORED_MODEL];

}  // namespace

int main() {
  const float off = f_stored_check(workspace, y), wrong = f_wrong_check(workspace, y);
  if (!(off >= 0)) return 2;
  board::print("largest difference, in millionths of the largest value: ");
  board::print_number(static_cast<std::uint64_t>(off * 1e6f));
  board::print("\nwith a wrong activation: ");
  board::print_number(static_cast<std::uint64_t>(wrong * 1e6f));
  board::print("\n");
  if (f_stored_check(nullptr, y) >= 0) return 3;
  return off <= f_stored_check_tolerance && wrong > f_wrong_check_tolerance ? 0 : 1;
}
